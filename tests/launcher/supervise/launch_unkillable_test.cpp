// Ranks that cannot be ended, or not by us, do not keep the launcher: it names them and goes.

#include "launcher/supervise/launch_run.hpp"
#include "supervise/process_table.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;

pid_t pid_of(const LaunchRun& run, int rank) {
  return nlohmann::json::parse(
      file_text(run.path("rank_" + std::to_string(rank) + ".json")))["pid"];
}

pid_t guardian_of(const LaunchRun& run) { return launcher::children_of(run.pid()).at(0); }

/// CPU time of a process so far.
double cpu_seconds(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

/// A debugger that never looks: the dead stay with it, and their parent cannot reap them.
void seize(pid_t pid) {
  if (::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) != 0) SKIP("may not trace processes here");
}

TEST_CASE("a rank that a debugger holds when it is killed is named, and not waited for") {
  LaunchRun run({"-n", "2", "--grace", "0.2", "--report", "/dev/stdout", "--quiet", "--",
                 probe_program(), "--on", "1", "--wait-for", "OUT/seized", "--exit", "7", "--on",
                 "0", "--sleep", "600"});
  run.wait_for_file("rank_0.json");
  const pid_t held = pid_of(run, 0);
  seize(held);
  run.touch("seized");
  const LaunchEnd end = run.wait();
  CHECK(end.code == 7);
  CHECK_THAT(end.err, ContainsSubstring("rank 1 failed first"));
  CHECK_THAT(end.err,
             ContainsSubstring("process " + std::to_string(held) + " did not end after SIGKILL"));
  CHECK(nlohmann::json::parse(end.out)["left"] == std::vector{held});
  ::waitpid(held, nullptr, __WALL);
}

TEST_CASE("while a debugger holds a dead rank the guardian waits without work") {
  LaunchRun run({"-n", "1", "--", probe_program(), "--wait-for", "OUT/seized"});
  run.wait_for_file("rank_0.json");
  const pid_t held = pid_of(run, 0);
  seize(held);
  run.touch("seized");
  while (!launcher::process_state(held)->dead) ::usleep(5000);
  for (int i = 0; i < 100 && cpu_seconds(guardian_of(run)) < 0.1; ++i) ::usleep(20'000);
  CHECK(cpu_seconds(guardian_of(run)) < 0.1);
  ::waitpid(held, nullptr, __WALL);
  CHECK(run.wait().code == 0);
}

/// Whether files of that folder may give their owner's rights to who runs them.
bool allows_setuid(const std::string& folder) {
  struct statvfs facts {};
  return ::statvfs(folder.c_str(), &facts) == 0 && (facts.f_flag & ST_NOSUID) == 0;
}

TEST_CASE("a rank that became another user's is named, and not waited for") {
  if (::getuid() != 0) SKIP("needs root, to make a program that changes its user");
  // The launcher is nobody's; rank 0 becomes root's by a program with a set-user-ID bit.
  const std::string script =
      "chmod 777 $OUT; cp $(command -v setpriv) $OUT/rootly; chmod 4755 $OUT/rootly; "
      "exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$@\"";
  LaunchRun run({"-n", "2", "--grace", "0.2", "--", "sh", "-c",
                 "if [ $RANK = 1 ]; then until [ -e $OUT/rooted ]; do sleep 0.05; done; exit 7; "
                 "fi; exec $OUT/rootly --reuid=0 --regid=0 --clear-groups sh -c 'echo $$ > "
                 "$OUT/rooted.part; mv $OUT/rooted.part $OUT/rooted; exec sleep 600'"},
                {.environment = {{"XDG_RUNTIME_DIR", ""}, {"TMPDIR", "/tmp"}},
                 .wrapper = {"sh", "-c", script, "sh"}});
  if (!allows_setuid(run.path(""))) SKIP("no set-user-ID programs in this folder");
  run.wait_for_file("rooted");
  const LaunchEnd end = run.wait();
  CHECK(end.code == 7);
  auto pid = file_text(run.path("rooted"));
  pid.pop_back();
  CHECK_THAT(end.err, ContainsSubstring("process " + pid + " did not end after SIGKILL"));
  CHECK(run.survivors().size() == 1);
}

TEST_CASE("ranks that gave up root's rights go with the job, whoever is killed") {
  if (::getuid() != 0) SKIP("needs root");
  for (const bool kill_guardian : {false, true}) {
    // With its user a process loses the wish to die with its parent.
    LaunchRun run({"-n", "2", "--", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                   "sh", "-c", "sleep 600 & echo started; wait"});
    run.wait_for_output("started");
    ::kill(kill_guardian ? guardian_of(run) : run.pid(), SIGKILL);
    CHECK(run.wait().code == (kill_guardian ? 125 : 137));
    CHECK(run.survivors_after_a_second().empty());
  }
}

}  // namespace
}  // namespace muster::test
