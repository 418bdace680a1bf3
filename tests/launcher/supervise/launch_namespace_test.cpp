// In a PID namespace of its own: killed by name, with all that bears it; and as process 1.

#include "launcher/supervise/launch_run.hpp"
#include "supervise/process_table.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace muster::test {
namespace {

/// Words that run a program in a new PID namespace, as root there; skips where there are none.
std::vector<std::string> namespace_words() {
  const std::string root = ::getuid() == 0 ? "" : "--user --map-root-user ";
  const std::string command = "unshare " + root + "--pid --fork --mount-proc true 2>/dev/null";
  if (std::system(command.c_str()) != 0) SKIP("no PID namespaces here");
  std::vector<std::string> words{"unshare"};
  if (::getuid() != 0) words.insert(words.end(), {"--user", "--map-root-user"});
  words.insert(words.end(), {"--pid", "--fork", "--mount-proc", "--kill-child"});
  return words;
}

bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null").c_str()) == 0;
}

void wait_until(const std::function<bool()>& condition) {
  for (int i = 0; i < 4000 && !condition(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  REQUIRE(condition());
}

char state_of(pid_t pid) {
  const std::string text = file_text("/proc/" + std::to_string(pid) + "/stat");
  return text.empty() ? '-' : text[text.rfind(')') + 2];
}

TEST_CASE("killed by name nothing of the job survives a second") {
  for (const std::string command : {"pkill -9 -f muster", "killall -9 muster", "pkill -9 -x muster",
                                    "killall -9 rank-guardian", "pkill -9 -f rank-guardian"}) {
    INFO(command);
    auto wrapper = namespace_words();
    if (!has_program(command.substr(0, command.find(' ')))) SKIP("no pkill or killall");
    // Process 1, which no signal from within reaches, counts what is left: ranks, their workers
    // (one of them in another session) and daemons.
    const std::string script =
        "alive() { ps -e -o pid=,stat=,comm= | awk '$1 != 1 && $2 !~ /Z/ && "
        "$3 ~ /^(muster|rank-guardian|launcher_probe)/'; }; "
        "\"$@\" & until [ -e $OUT/daemon_0 ] && [ -e $OUT/daemon_1 ]; do sleep 0.02; done; "
        "alive | wc -l > $OUT/before; " +
        command +
        "; i=0; while [ $i -lt 20 ] && [ -n \"$(alive)\" ]; do sleep 0.05; i=$((i + 1)); done; "
        "alive > $OUT/left; : > $OUT/counted";
    wrapper.insert(wrapper.end(), {"sh", "-c", script, "sh"});
    LaunchRun run({"-n", "2", "--", probe_program(), "--worker", "600", "--far-worker", "600",
                   "--daemonize", "600", "--sleep", "600"},
                  {.wrapper = wrapper});
    run.wait();
    CHECK(std::filesystem::exists(run.path("counted")));
    CHECK(std::atoi(file_text(run.path("before")).c_str()) == 10);
    CHECK(file_text(run.path("left")).empty());
  }
}

TEST_CASE("as process 1 it ends with a code where others die of a signal") {
  auto wrapper = namespace_words();
  SECTION("Ctrl-C") {
    LaunchRun run({"-n", "2", "--", probe_program(), "--touch", "OUT/ready", "--sleep", "600"},
                  {.terminal = true, .wrapper = wrapper});
    run.wait_for_file("rank_0.json");
    run.wait_for_file("rank_1.json");
    run.type("\003");
    const LaunchEnd end = run.wait();
    CHECK(end.signal == 0);
    CHECK(end.code == 130);
    CHECK(run.survivors().empty());
  }
  SECTION("SIGTERM") {
    LaunchRun run({"-n", "2", "--", probe_program(), "--sleep", "600"}, {.wrapper = wrapper});
    run.wait_for_file("rank_0.json");
    run.wait_for_file("rank_1.json");
    ::kill(launcher::children_of(run.pid()).at(0), SIGTERM);
    CHECK(run.wait().code == 143);
    CHECK(run.survivors().empty());
  }
}

TEST_CASE("process 1 cannot stop, but its ranks can, until it is told to go on") {
  LaunchRun run({"-n", "1", "--", probe_program(), "--wait-for", "OUT/done"},
                {.wrapper = namespace_words()});
  run.wait_for_file("rank_0.json");
  const pid_t init = launcher::children_of(run.pid()).at(0);
  const auto processes = launcher::descendants_of(init);
  const auto rank = std::ranges::find_if(processes, [](const launcher::ProcessState& process) {
    return file_text("/proc/" + std::to_string(process.pid) + "/cmdline").find("--wait-for") !=
               std::string::npos &&
           file_text("/proc/" + std::to_string(process.pid) + "/comm")
               .starts_with("launcher_probe");
  });
  REQUIRE(rank != processes.end());
  ::kill(init, SIGTSTP);
  wait_until([&] { return state_of(rank->pid) == 'T'; });
  ::kill(init, SIGCONT);
  wait_until([&] { return state_of(rank->pid) != 'T'; });
  run.touch("done");
  CHECK(run.wait().code == 0);
}

}  // namespace
}  // namespace muster::test
