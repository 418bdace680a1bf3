// Where ranks meet: the address and the port that they get work, for programs that are not ours.

#include "launcher/supervise/launch_run.hpp"
#include "supervise/process_table.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <netinet/in.h>
#include <set>
#include <sstream>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;

/// Rank 0 listens where it was told, on a socket of its own, as a store does; the others bring JOB
/// and get it back doubled.
constexpr const char* meeting = R"(
import os, socket
host, port = os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT'])
job = os.environ.get('JOB', '1')
family = socket.AF_INET6 if ':' in host else socket.AF_INET
if os.environ['RANK'] == '0':
  server = socket.socket(family)
  server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
  server.bind((host, port))
  server.listen()
  for _ in range(int(os.environ['WORLD_SIZE']) - 1):
    peer = server.accept()[0]
    other = peer.recv(99).decode()
    assert other == job, f'job {job} was met by {other}'
    peer.send(str(int(other) + int(job)).encode())
else:
  while True:
    try:
      peer = socket.create_connection((host, port))
      break
    except ConnectionRefusedError:
      pass
  peer.send(job.encode())
  print('sum', peer.recv(99).decode(), 'at', host, flush=True)
)";

std::vector<std::string> meet(std::vector<std::string> options) {
  options.insert(options.end(), {"-n", "2", "--no-prefix", "--", "python3", "-c", meeting});
  return options;
}

/// Skips where `command` does not work.
void needs(const std::string& command, const char* what) {
  if (std::system((command + " >/dev/null 2>&1").c_str()) != 0) SKIP(what);
}

TEST_CASE("a port that is taken is refused before anything starts") {
  const int taken = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* where = reinterpret_cast<sockaddr*>(&address);
  REQUIRE(::bind(taken, where, size) == 0);
  REQUIRE(::listen(taken, 1) == 0);
  REQUIRE(::getsockname(taken, where, &size) == 0);
  const auto port = std::to_string(ntohs(address.sin_port));
  LaunchRun run({"--master-port", port, "-n", "2", "--", probe_program()});
  const LaunchEnd end = run.wait();
  CHECK(end.code == 2);
  CHECK(std::ranges::count(end.err, '\n') == 1);
  CHECK_THAT(end.err, ContainsSubstring(port));
  CHECK_THAT(end.err, ContainsSubstring("--master-port 0"));
  CHECK_FALSE(std::filesystem::exists(run.path("rank_0.json")));
  ::close(taken);
}

TEST_CASE("many jobs at once meet their own ranks, whatever ports come and go") {
  std::atomic<bool> done = false;
  std::thread churn([&] {
    while (!done) {
      const int one = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in any{};
      any.sin_family = AF_INET;
      any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      static_cast<void>(::bind(one, reinterpret_cast<sockaddr*>(&any), sizeof any));
      ::listen(one, 1);
      ::usleep(1000);
      ::close(one);
    }
  });
  std::vector<std::unique_ptr<LaunchRun>> runs;
  for (int job = 1; job <= 20; ++job) {
    runs.push_back(std::make_unique<LaunchRun>(
        meet({}), LaunchRun::Options{.environment = {{"JOB", std::to_string(job)}}}));
  }
  for (int job = 1; job <= 20; ++job) {
    const LaunchEnd end = runs[static_cast<std::size_t>(job - 1)]->wait();
    INFO(end.err);
    CHECK(end.code == 0);
    CHECK(end.out == "sum " + std::to_string(2 * job) + " at 127.0.0.1\n");
  }
  done = true;
  churn.join();
}

/// Inodes of all TCP sockets here that listen.
std::set<std::string> listeners() {
  std::set<std::string> inodes;
  for (const std::string table : {"tcp", "tcp6"}) {
    std::istringstream lines(file_text("/proc/net/" + table));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
      if (fields.size() > 9 && fields[3] == "0A") inodes.insert(fields[9]);
    }
  }
  return inodes;
}

/// How many of its sockets listen.
int listens(pid_t pid) {
  int count = 0;
  const auto all = listeners();
  const auto folder = "/proc/" + std::to_string(pid) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(entry.path(), gone).string();
    const auto at = target.find('[');
    if (target.starts_with("socket:") &&
        all.contains(target.substr(at + 1, target.size() - at - 2)))
      ++count;
  }
  return count;
}

TEST_CASE("no process of a job on one host listens, until rank 0's program does") {
  LaunchRun run({"-n", "2", "--", probe_program(), "--touch-rank", "up", "--wait-for", "OUT/done"});
  run.wait_for_file("up_0");
  run.wait_for_file("up_1");
  CHECK(listens(run.pid()) == 0);
  const auto below = launcher::descendants_of(run.pid());
  CHECK(below.size() == 3);
  for (const auto& process : below) CHECK(listens(process.pid) == 0);
  run.touch("done");
  CHECK(run.wait().code == 0);
}

TEST_CASE("ranks meet whatever variables of other launchers are there") {
  const LaunchEnd end = launch(meet({}), {.environment = {{"RANK", "5"},
                                                          {"WORLD_SIZE", "99"},
                                                          {"LOCAL_RANK", "5"},
                                                          {"MASTER_ADDR", "203.0.113.1"},
                                                          {"MASTER_PORT", "1"},
                                                          {"SLURM_PROCID", "0"},
                                                          {"SLURM_NTASKS", "1"},
                                                          {"OMPI_COMM_WORLD_RANK", "3"}}});
  CHECK(end.code == 0);
  CHECK(end.out == "sum 2 at 127.0.0.1\n");
}

TEST_CASE("a port alone changes nothing else") {
  const TemporaryFolder folder;
  folder.write("c.toml", "[launch]\nnum_processes = 1\n");
  LaunchRun run(
      {"--config", folder.path() + "/c.toml", "--master-port", "0", "--", probe_program()});
  CHECK(run.wait().code == 0);
  const auto rank = nlohmann::json::parse(file_text(run.path("rank_0.json")));
  CHECK(rank["env"]["WORLD_SIZE"] == "1");
  CHECK_FALSE(std::filesystem::exists(run.path("rank_1.json")));
}

TEST_CASE("addresses as people write them") {
  CHECK(launch(meet({"--master-addr", "localhost"})).out == "sum 2 at 127.0.0.1\n");
  const LaunchEnd wrong = launch(meet({"--master-addr", "1:2"}));
  CHECK(wrong.code == 2);
  CHECK_THAT(wrong.err, ContainsSubstring("without a port"));
  needs("python3 -c \"import socket; socket.socket(socket.AF_INET6).bind(('::1', 0))\"",
        "no IPv6 here");
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"--master-addr", "::1"}, {"--master-addr", "[::1]"}, {"--rdzv-endpoint", "[::1]:0"}})
    CHECK(launch(meet(words)).out == "sum 2 at ::1\n");
}

TEST_CASE("without IPv6 nobody complains") {
  needs("unshare --net true", "needs root, for a network of its own");
  const std::string script =
      "ip link set lo up; sysctl -qw net.ipv6.conf.all.disable_ipv6=1; exec \"$@\"";
  const LaunchEnd end =
      launch(meet({}), {.wrapper = {"unshare", "--net", "sh", "-c", script, "sh"}});
  CHECK(end.code == 0);
  CHECK(end.err.empty());
  CHECK(end.out == "sum 2 at 127.0.0.1\n");
}

TEST_CASE("ranks get the address that was given, whatever the host is called") {
  needs("unshare --uts true", "needs root, for a host name of its own");
  const LaunchEnd end = launch(
      meet({"--master-addr", "127.0.0.1"}),
      {.wrapper = {"unshare", "--uts", "sh", "-c", "hostname no-such-host; exec \"$@\"", "sh"}});
  CHECK(end.code == 0);
  CHECK(end.out == "sum 2 at 127.0.0.1\n");
}

}  // namespace
}  // namespace muster::test
