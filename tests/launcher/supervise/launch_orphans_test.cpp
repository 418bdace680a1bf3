// Nothing survives, whoever dies; and nothing that is not ours is touched.

#include "launcher/supervise/launch_run.hpp"
#include "supervise/process_table.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;

/// Two ranks with two workers each, one of them in another session, and a daemon.
std::vector<std::string> family() {
  return {"-n",           "2",   "--",          probe_program(), "--worker", "600",
          "--far-worker", "600", "--daemonize", "600",           "--sleep",  "600"};
}

void wait_for_family(LaunchRun& run) {
  run.wait_for_file("daemon_0");
  run.wait_for_file("daemon_1");
}

/// The launcher's only child.
pid_t guardian_of(const LaunchRun& run) {
  const auto children = launcher::children_of(run.pid());
  REQUIRE(children.size() == 1);
  return children.front();
}

std::string command_line(pid_t pid) {
  std::string text = file_text("/proc/" + std::to_string(pid) + "/cmdline");
  std::ranges::replace(text, '\0', ' ');
  return text;
}

TEST_CASE("the guardian is not found by the launcher's name or command line") {
  LaunchRun run(family());
  wait_for_family(run);
  const pid_t guardian = guardian_of(run);
  CHECK(command_line(guardian).find("rank-guardian") == 0);
  CHECK_THAT(command_line(guardian), !ContainsSubstring("muster"));
  CHECK_THAT(command_line(guardian), !ContainsSubstring("probe"));
  CHECK(file_text("/proc/" + std::to_string(guardian) + "/comm") == "rank-guardian\n");
  CHECK(::getsid(guardian) == guardian);
}

TEST_CASE("the guardian keeps no descriptor that is not its own") {
  LaunchRun run(family());
  wait_for_family(run);
  const std::string folder = "/proc/" + std::to_string(guardian_of(run)) + "/fd/";
  for (int fd = 0; fd < 64; ++fd) {
    char target[256] = {};
    if (::readlink((folder + std::to_string(fd)).c_str(), target, sizeof target - 1) < 0) continue;
    INFO(fd << " -> " << target);
    const std::string name = target;
    const bool own = name == "/dev/null" || name.find("anon_inode:") == 0 ||
                     name.find("pidfd:") == 0 || (fd == 3 && name.find("socket:") == 0) ||
                     (fd == 4 && name.find("pipe:") == 0);  // Until the ranks run.
    CHECK(own);
  }
}

TEST_CASE("a launcher that is killed leaves nothing behind") {
  LaunchRun run(family());
  wait_for_family(run);
  CHECK(run.survivors().size() >= 9);
  run.send(SIGKILL);
  CHECK(run.wait().signal == SIGKILL);
  CHECK(run.survivors_after_a_second().empty());
}

TEST_CASE("a guardian that is killed leaves nothing behind") {
  LaunchRun run(family());
  wait_for_family(run);
  const pid_t guardian = guardian_of(run);
  ::kill(guardian, SIGKILL);
  const LaunchEnd end = run.wait();
  CHECK(end.code == 125);
  CHECK_THAT(end.err, ContainsSubstring(std::to_string(guardian)));
  CHECK(run.survivors().empty());
}

TEST_CASE("the guardian obeys nobody but the launcher") {
  LaunchRun run(family());
  wait_for_family(run);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGALRM, SIGPIPE})
    ::kill(guardian_of(run), signal);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK(launcher::process_state(guardian_of(run)));
  run.send(SIGTERM);
  CHECK(run.wait().code == 143);
  CHECK(run.survivors().empty());
}

TEST_CASE("what ranks leave behind goes with the job, and holds nothing up") {
  // The daemons keep our stdout open: nobody waits for its end.
  LaunchRun run({"-n", "2", "--", probe_program(), "--daemonize", "600", "--print", "done\\n"});
  const LaunchEnd end = run.wait();
  CHECK(end.code == 0);
  CHECK(run.survivors().empty());
  CHECK_THAT(end.out, ContainsSubstring("[1] done\n"));
}

TEST_CASE("workers of a failed job go with it") {
  auto words = family();
  words.insert(words.end() - 2, {"--on", "1", "--exit", "7"});
  LaunchRun run(words);
  CHECK(run.wait().code == 7);
  CHECK(run.survivors().empty());
}

TEST_CASE("a program with the same command line is not ours") {
  const pid_t decoy = ::fork();
  if (decoy == 0) {
    const std::string probe = probe_program();
    ::execl(probe.c_str(), probe.c_str(), "--sleep", "600", nullptr);
    ::_exit(1);
  }
  LaunchRun run({"-n", "1", "--", probe_program(), "--sleep", "600"});
  run.wait_for_file("rank_0.json");
  run.send(SIGTERM);
  CHECK(run.wait().code == 143);
  CHECK(::waitpid(decoy, nullptr, WNOHANG) == 0);
  ::kill(decoy, SIGKILL);
  ::waitpid(decoy, nullptr, 0);
}

TEST_CASE("children that the launcher had before are left alone") {
  // The shell leaves a child, and what that one leaves comes to us when it dies.
  const std::string script = "(sleep 600 & sleep 0.1) & echo $$ > $OUT/shell; exec \"$@\"";
  for (const bool kill_guardian : {false, true}) {
    LaunchRun run({"-n", "1", "--", probe_program(), "--sleep", kill_guardian ? "600" : "0.4"},
                  {.wrapper = {"sh", "-c", script, "sh"}});
    run.wait_for_file("rank_0.json");
    if (kill_guardian) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      for (const auto& process : launcher::descendants_of(run.pid()))
        if (command_line(process.pid).find("rank-guardian") == 0) ::kill(process.pid, SIGKILL);
    }
    CHECK(run.wait().code == (kill_guardian ? 125 : 0));
    const auto left = run.survivors();
    REQUIRE(left.size() == 1);
    CHECK(command_line(left.front()) == "sleep 600 ");
    ::kill(left.front(), SIGKILL);
  }
}

TEST_CASE("as process 1 it ends as the job does") {
  if (std::system("unshare --user --map-root-user --pid --fork --mount-proc true 2>/dev/null") != 0)
    SKIP("no user and PID namespaces here");
  const auto run_as_init = [](const std::vector<std::string>& steps) {
    std::vector<std::string> words{"-n", "2", "--", probe_program()};
    words.insert(words.end(), steps.begin(), steps.end());
    LaunchRun::Options options;
    options.wrapper = {"unshare", "--user",       "--map-root-user", "--pid",
                       "--fork",  "--mount-proc", "--kill-child"};
    return launch(words, options);
  };
  CHECK(run_as_init({"--daemonize", "600"}).code == 0);
  CHECK(run_as_init({"--exit-on", "1:7", "--sleep", "600"}).code == 7);
  CHECK(run_as_init({"--no-core", "--on", "1", "--raise", "11"}).code == 139);
}

TEST_CASE("as process 1 strangers are reaped and not touched") {
  if (::getuid() != 0 || std::system("unshare --pid --fork --mount-proc true 2>/dev/null") != 0)
    SKIP("needs root, to put a stranger into a PID namespace");
  LaunchRun::Options options;
  options.wrapper = {"unshare", "--pid", "--fork", "--mount-proc", "--kill-child"};
  LaunchRun run({"-n", "1", "--", probe_program(), "--wait-for", "OUT/done"}, options);
  run.wait_for_file("rank_0.json");
  const pid_t init = launcher::children_of(run.pid()).at(0);
  // Two orphans: one that ends, and one that stays.
  const std::string stranger = "nsenter -t " + std::to_string(init) +
                               " -p -m sh -c '(sleep 0.1 & " +
                               "sleep 600 &) </dev/null >/dev/null 2>&1'";
  REQUIRE(std::system(stranger.c_str()) == 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto children = launcher::children_of(init);
  CHECK(children.size() == 2);  // The launcher, and the one that stays.
  CHECK(std::ranges::any_of(children, [](pid_t pid) { return command_line(pid) == "sleep 600 "; }));
  std::ofstream(run.path("done")).flush();
  CHECK(run.wait().code == 0);
}

enum class Victim { rank, guardian, launcher };

/// A rank that has its workers.
pid_t rank_below(pid_t guardian) {
  const auto all = launcher::children_of(guardian);
  const auto rank = std::ranges::find_if(all, [&](pid_t pid) {
    return command_line(pid).find("launcher_probe") != std::string::npos && ::getsid(pid) == pid &&
           ::getpgid(pid) == pid && !launcher::children_of(pid).empty();
  });
  REQUIRE(rank != all.end());
  return *rank;
}

/// Nor a moment later: a process that is becoming its program shows no mark.
void check_that_nothing_survives(const LaunchRun& run) {
  CHECK(run.survivors_after_a_second().empty());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  REQUIRE(run.survivors().empty());
}

void hit(Victim victim, int signal) {
  INFO(static_cast<int>(victim) << " gets " << signal);
  LaunchRun run(family(), {.wrapper = {"sh", "-c", "ulimit -c 0; exec \"$@\"", "sh"}});
  wait_for_family(run);
  const pid_t guardian = guardian_of(run);
  const bool lives_on = victim == Victim::guardian && signal != SIGKILL;
  if (victim == Victim::launcher) run.send(signal);
  if (victim == Victim::guardian) ::kill(guardian, signal);
  if (victim == Victim::rank) ::kill(rank_below(guardian), signal);
  if (lives_on) run.send(SIGTERM);  // It obeys nothing but SIGKILL: the job goes on.
  const int code = run.wait().code;
  if (victim != Victim::guardian) CHECK(code == 128 + signal);
  if (victim == Victim::guardian) CHECK(code == (lives_on ? 143 : 125));
  check_that_nothing_survives(run);
}

/// The launcher or the guardian is hit while ranks are started, or before, or just afterwards.
void hit_at_start(Victim victim, int signal, std::chrono::microseconds after) {
  INFO(static_cast<int>(victim) << " gets " << signal << " after " << after.count() << " us");
  auto words = family();
  words[1] = "8";
  LaunchRun run(words, {.wrapper = {"sh", "-c", "ulimit -c 0; exec \"$@\"", "sh"}});
  pid_t pid = run.pid();
  if (victim == Victim::guardian) {
    std::vector<pid_t> children;
    while (children.empty()) children = launcher::children_of(run.pid());
    pid = children.front();
  }
  const auto then = std::chrono::steady_clock::now() + after;
  while (std::chrono::steady_clock::now() < then) std::this_thread::yield();
  ::kill(pid, signal);
  CHECK(run.wait().code == (victim == Victim::guardian ? 125 : 128 + signal));
  check_that_nothing_survives(run);
}

/// So many trials of each kind.
void hit_everybody(int trials) {
  for (int i = 0; i < trials; ++i) {
    for (const Victim victim : {Victim::rank, Victim::guardian, Victim::launcher})
      for (const int signal : {SIGTERM, SIGKILL, SIGSEGV}) hit(victim, signal);
  }
}

void hit_everybody_at_start(int trials) {
  std::minstd_rand random(7);
  std::uniform_int_distribution<int> microseconds(0, 40'000);
  for (int i = 0; i < trials; ++i) {
    for (const int signal : {SIGTERM, SIGKILL, SIGSEGV})
      hit_at_start(Victim::launcher, signal, std::chrono::microseconds(microseconds(random)));
    hit_at_start(Victim::guardian, SIGKILL, std::chrono::microseconds(microseconds(random)));
  }
}

TEST_CASE("whoever is hit by whatever, nothing survives") { hit_everybody(1); }

TEST_CASE("nothing survives in 1008 of 1008", "[.]") { hit_everybody(112); }

TEST_CASE("whoever is hit during the start, nothing survives") { hit_everybody_at_start(5); }

TEST_CASE("nothing survives 1000 starts that are hit", "[.]") { hit_everybody_at_start(250); }

TEST_CASE("many starts and ends leave no process and no file") {
  const TemporaryFolder temporary;
  for (int i = 0; i < 60; ++i) {
    LaunchRun run({"-n", "2", "--", probe_program(), "--worker", "600", "--sleep", "600"},
                  {.environment = {{"XDG_RUNTIME_DIR", ""}, {"TMPDIR", temporary.path()}}});
    if (i % 3 != 0) run.wait_for_file("rank_1.json");
    run.send(i % 2 == 0 ? SIGTERM : SIGKILL);
    run.wait();
    REQUIRE(run.survivors_after_a_second().empty());
  }
  CHECK(std::filesystem::is_empty(temporary.path()));
}

TEST_CASE("a guardian that is stopped does not keep the job") {
  LaunchRun run({"-n", "2", "--grace", "0", "--", probe_program(), "--sleep", "600"});
  run.wait_for_file("rank_0.json");
  run.wait_for_file("rank_1.json");
  ::kill(guardian_of(run), SIGSTOP);
  run.send(SIGTERM);
  CHECK(run.wait().code == 143);
  CHECK(run.survivors().empty());
}

TEST_CASE("a launcher that is killed leaves no folder of the job") {
  const TemporaryFolder temporary;
  LaunchRun run({"-n", "1", "--", probe_program(), "--sleep", "600"},
                {.environment = {{"XDG_RUNTIME_DIR", ""}, {"TMPDIR", temporary.path()}}});
  run.wait_for_file("rank_0.json");
  CHECK_FALSE(std::filesystem::is_empty(temporary.path()));
  run.send(SIGKILL);
  run.wait();
  CHECK(run.survivors_after_a_second().empty());
  CHECK(std::filesystem::is_empty(temporary.path()));
}

}  // namespace
}  // namespace muster::test
