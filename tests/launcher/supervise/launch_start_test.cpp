// What a rank finds when its program starts.

#include "launcher/supervise/launch_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

json rank_of(const LaunchRun& run, int rank) {
  return json::parse(file_text(run.path("rank_" + std::to_string(rank) + ".json")));
}

std::set<std::string> descriptors(const json& rank) {
  std::set<std::string> numbers;
  for (const auto& [number, target] : rank["fds"].items()) numbers.insert(number);
  return numbers;
}

TEST_CASE("arguments reach the program byte for byte") {
  const std::vector<std::string> words{"",
                                       "two words",
                                       "\"quoted\" 'too'",
                                       "$HOME",
                                       "a;b|c&",
                                       "line\nx",
                                       "grüße",
                                       "--num-processes",
                                       "-n",
                                       "3",
                                       "--",
                                       "\\",
                                       "*",
                                       "--x=",
                                       "\t"};
  std::vector<std::string> arguments{"-n", "1", "--", probe_program()};
  arguments.insert(arguments.end(), words.begin(), words.end());
  LaunchRun run(arguments);
  CHECK(run.wait().code == 0);
  auto seen = rank_of(run, 0)["argv"].get<std::vector<std::string>>();
  seen.erase(seen.begin());
  CHECK(seen == words);
}

TEST_CASE("a rank has its standard descriptors and those that are documented") {
  LaunchRun run({"-n", "2", "--", probe_program()});
  CHECK(run.wait().code == 0);
  const json first = rank_of(run, 0), second = rank_of(run, 1);
  CHECK(descriptors(first) == std::set<std::string>{"0", "1", "2", "3", "4", "5"});
  CHECK(descriptors(second) == std::set<std::string>{"0", "1", "2", "3", "4"});
  CHECK(first["env"]["MUSTER_CONTROL_FD"] == "3");
  CHECK(first["env"]["MUSTER_CONTROL_MEMORY_FD"] == "4");
  CHECK(first["env"]["MUSTER_MASTER_FD"] == "5");
  CHECK_FALSE(second["env"].contains("MUSTER_MASTER_FD"));
  CHECK(second["env"]["MUSTER_CONTROL_SLOT"] == "1");
  CHECK(second["fds"]["0"] == "/dev/null");
}

TEST_CASE("descriptors that the launcher inherited are not passed on") {
  LaunchRun run({"-n", "1", "--", probe_program()},
                {.wrapper = {"sh", "-c", "exec 7</dev/null 9>/dev/null; exec \"$@\"", "sh"}});
  CHECK(run.wait().code == 0);
  CHECK(descriptors(rank_of(run, 0)) == std::set<std::string>{"0", "1", "2", "3", "4", "5"});
}

TEST_CASE("a rank starts in a session of its own with a clean signal state") {
  LaunchRun run({"-n", "2", "--", probe_program()});
  CHECK(run.wait().code == 0);
  for (int i = 0; i < 2; ++i) {
    const json rank = rank_of(run, i);
    CHECK(rank["session"] == rank["pid"]);
    CHECK(std::stoull(rank["blocked"].get<std::string>(), nullptr, 16) == 0);
    CHECK(std::stoull(rank["ignored"].get<std::string>(), nullptr, 16) == 0);
    CHECK(rank["cwd"] == std::filesystem::current_path().string());
  }
}

TEST_CASE("what a process hands on by nature a rank has as well") {
  const LaunchEnd end = launch(
      {"-n", "1", "--", "sh", "-c", "umask; nice; ulimit -c; pwd"},
      {.wrapper = {"sh", "-c", "cd /; umask 027; ulimit -c 7; exec nice -n 3 \"$@\"", "sh"}});
  const int nice = std::min(::getpriority(PRIO_PROCESS, 0) + 3, 19);
  CHECK(end.out == "0027\n" + std::to_string(nice) + "\n7\n/\n");
}

TEST_CASE("a rank has the user's variables as they were, and the documented ones") {
  const std::map<std::string, std::string> users{
      {"PATH", "/usr/bin:/bin"},     {"PYTHONPATH", "/a:/b"}, {"LD_LIBRARY_PATH", "/x y"},
      {"NCCL_SOCKET_IFNAME", "^lo"}, {"EMPTY", ""},           {"LINES_OF_IT", "one\ntwo"}};
  // Nothing else, whatever this test was started with.
  std::vector<std::string> wrapper{"sh", "-c",
                                   "exec env -i OUT=\"$OUT\" LAUNCH_RUN_MARK=\"$LAUNCH_RUN_MARK\" "
                                   "XDG_CONFIG_HOME=\"$XDG_CONFIG_HOME\" \"$@\"",
                                   "sh"};
  for (const auto& [name, value] : users) wrapper.push_back(name + "=" + value);
  LaunchRun run({"--devices", "cpu", "-n", "2", "--", probe_program()}, {.wrapper = wrapper});
  CHECK(run.wait().code == 0);
  for (const int rank : {0, 1}) {
    auto found = rank_of(run, rank)["env"].get<std::map<std::string, std::string>>();
    for (const auto& [name, value] : users) CHECK(found[name] == value);
    std::set<std::string> added;
    for (const auto& [name, value] : found)
      if (!users.contains(name)) added.insert(name);
    for (const std::string name : {"OUT", "LAUNCH_RUN_MARK", "XDG_CONFIG_HOME"}) added.erase(name);
    std::set<std::string> documented{"RANK",
                                     "WORLD_SIZE",
                                     "LOCAL_RANK",
                                     "LOCAL_WORLD_SIZE",
                                     "GROUP_RANK",
                                     "GROUP_WORLD_SIZE",
                                     "NODE_RANK",
                                     "ROLE_NAME",
                                     "ROLE_RANK",
                                     "ROLE_WORLD_SIZE",
                                     "MASTER_ADDR",
                                     "MASTER_PORT",
                                     "TORCHELASTIC_RUN_ID",
                                     "TORCHELASTIC_RESTART_COUNT",
                                     "TORCHELASTIC_MAX_RESTARTS",
                                     "TORCHELASTIC_USE_AGENT_STORE",
                                     "TORCHELASTIC_ERROR_FILE",
                                     "MUSTER_RESTART_COUNT",
                                     "OMP_NUM_THREADS",
                                     "TORCH_NCCL_ASYNC_ERROR_HANDLING",
                                     "PYTHONUNBUFFERED",
                                     "ACCELERATE_USE_CPU",
                                     "MUSTER_LAUNCH_DEVICES",
                                     "MUSTER_LAUNCH_NUM_PROCESSES",
                                     "MUSTER_EXPORTED",
                                     "MUSTER_CONTROL_FD",
                                     "MUSTER_CONTROL_MEMORY_FD",
                                     "MUSTER_CONTROL_SLOT",
                                     "MUSTER_PREFIXED"};
    if (rank == 0) documented.insert("MUSTER_MASTER_FD");
    added.erase("CUDA_VISIBLE_DEVICES");  // Where there are devices.
    CHECK(added == documented);
  }
}

TEST_CASE("standard descriptors that are closed do no harm") {
  for (const std::vector<int>& closed : std::vector<std::vector<int>>{{0}, {1}, {2}, {0, 1, 2}}) {
    LaunchRun run(
        {"-n", "2", "--", probe_program(), "--print", "out\\n", "--print-error", "err\\n"},
        {.closed = closed});
    const LaunchEnd end = run.wait();
    CHECK(end.code == 0);
    const bool has_out = std::ranges::find(closed, 1) == closed.end();
    const bool has_err = std::ranges::find(closed, 2) == closed.end();
    CHECK((end.out.find("[1] out\n") != std::string::npos) == has_out);
    CHECK((end.err.find("[0] err\n") != std::string::npos) == has_err);
    CHECK(descriptors(rank_of(run, 1)) == std::set<std::string>{"0", "1", "2", "3", "4"});
  }
}

TEST_CASE("many ranks start under a low limit of open files, and find it as it was") {
  LaunchRun run({"-n", "40", "--", probe_program(), "--print", "hello\\n"}, {.open_files = 64});
  const LaunchEnd end = run.wait();
  CHECK(end.err.empty());
  CHECK(end.code == 0);
  CHECK(std::ranges::count(end.out, '\n') == 40);
  CHECK(rank_of(run, 39)["files"] == 64);
}

TEST_CASE("a limit that cannot be raised is named") {
  LaunchRun run({"-n", "40", "--", probe_program()},
                {.wrapper = {"sh", "-c", "ulimit -n 64; exec \"$@\"", "sh"}});
  const LaunchEnd end = run.wait();
  CHECK(end.code == 125);
  CHECK_THAT(end.err, ContainsSubstring("ulimit -n"));
  CHECK(run.survivors().empty());
}

TEST_CASE("launches side by side do not disturb each other") {
  std::vector<std::unique_ptr<LaunchRun>> runs;
  for (int i = 0; i < 12; ++i) {
    runs.push_back(std::make_unique<LaunchRun>(
        std::vector<std::string>{"-n", "2", "--", probe_program(), "--sleep", "0.5"}));
  }
  std::set<std::string> ports;
  for (const auto& run : runs) {
    CHECK(run->wait().code == 0);
    ports.insert(rank_of(*run, 0)["env"]["MASTER_PORT"].get<std::string>());
  }
  CHECK(ports.size() == runs.size());
}

TEST_CASE("a launch inside a rank is a job of its own") {
  LaunchRun run({"-n", "1", "--", muster_program(), "launch", "-n", "2", "--", probe_program()});
  const LaunchEnd end = run.wait();
  CHECK(end.code == 0);
  const json first = rank_of(run, 0), second = rank_of(run, 1);
  CHECK(descriptors(first) == std::set<std::string>{"0", "1", "2", "3", "4", "5"});
  CHECK_FALSE(second["env"].contains("MUSTER_MASTER_FD"));
  CHECK(second["env"]["WORLD_SIZE"] == "2");
}

}  // namespace
}  // namespace muster::test
