// How jobs end: exit codes, who is blamed, what is said.

#include "launcher/supervise/launch_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;

/// `-n ranks -- probe steps...`
std::vector<std::string> probes(int ranks, std::vector<std::string> steps) {
  std::vector<std::string> words{"-n", std::to_string(ranks), "--", probe_program()};
  words.insert(words.end(), steps.begin(), steps.end());
  return words;
}

int pid_of(const LaunchRun& run, int rank) {
  return nlohmann::json::parse(
      file_text(run.path("rank_" + std::to_string(rank) + ".json")))["pid"];
}

long lines_in(const std::string& text) { return std::ranges::count(text, '\n'); }

TEST_CASE("all ranks end with 0, at different times") {
  const LaunchEnd end = launch(probes(4, {"--on", "3", "--sleep", "0.3"}));
  CHECK(end.code == 0);
  CHECK(end.out.empty());
  CHECK(end.err.empty());
}

TEST_CASE("the exit code is the failing rank's, and the others are ended") {
  for (const int ranks : {1, 4}) {
    const std::string last = std::to_string(ranks - 1);
    LaunchRun run(probes(ranks, {"--on", last, "--exit", "7", "--on", "all", "--sleep", "600"}));
    const LaunchEnd end = run.wait();
    CHECK(end.code == 7);
    CHECK_THAT(end.err, ContainsSubstring("rank " + last));
    CHECK_THAT(end.err, ContainsSubstring("7"));
    CHECK(run.survivors().empty());
  }
}

TEST_CASE("a rank that fails after another one was done fails the job") {
  CHECK(launch(probes(2, {"--on", "1", "--sleep", "0.2", "--exit", "3"})).code == 3);
}

TEST_CASE("a rank that dies of a signal is told by its name") {
  const LaunchEnd end = launch(probes(2, {"--no-core", "--on", "1", "--raise",
                                          std::to_string(SIGSEGV), "--on", "0", "--sleep", "600"}));
  CHECK(end.code == 139);
  CHECK_THAT(end.err, ContainsSubstring("SIGSEGV"));
  CHECK_THAT(end.err, ContainsSubstring("rank 1"));
}

TEST_CASE("the rank that failed first is blamed, not the one that followed") {
  for (int i = 0; i < 20; ++i) {
    const LaunchEnd end =
        launch(probes(4, {"--on", "3", "--exit", "7", "--on", "0", "--wait-exiting", "3", "--sleep",
                          "0.05", "--exit", "9", "--on", "all", "--sleep", "600"}));
    REQUIRE(end.code == 7);
    REQUIRE_THAT(end.err, ContainsSubstring("rank 3"));
  }
}

TEST_CASE("a rank that left with 0 is told where others fail without it") {
  const LaunchEnd end = launch(probes(2, {"--on", "0", "--wait-exiting", "1", "--print-error",
                                          "barrier: timed out\\n", "--exit", "5"}));
  CHECK(end.code == 5);
  CHECK_THAT(end.err, ContainsSubstring("rank 1 ended well"));
}

TEST_CASE("a rank that was killed is blamed, not the one that lost its peer") {
  LaunchRun run(probes(2, {"--on", "0", "--wait-exiting", "1", "--print-error",
                           "Error: Connection closed by peer\\n", "--exit", "1", "--on", "1",
                           "--touch", "OUT/ready", "--sleep", "600"}));
  run.wait_for_file("ready");
  ::kill(pid_of(run, 1), SIGKILL);
  const LaunchEnd end = run.wait();
  CHECK(end.code == 137);
  CHECK_THAT(end.err, ContainsSubstring("rank 1 was killed from outside: SIGKILL"));
}

TEST_CASE("no rank outlives one that failed, even if it ignores SIGTERM") {
  LaunchRun run({"-n",
                 "4",
                 "--grace",
                 "0.3",
                 "--",
                 probe_program(),
                 "--on",
                 "2",
                 "--wait-for",
                 "OUT/ready_0",
                 "--wait-for",
                 "OUT/ready_1",
                 "--wait-for",
                 "OUT/ready_3",
                 "--exit",
                 "7",
                 "--on",
                 "all",
                 "--ignore-term",
                 "--touch-rank",
                 "ready",
                 "--sleep",
                 "600"});
  const LaunchEnd end = run.wait();
  CHECK(end.code == 7);
  CHECK_THAT(end.err, ContainsSubstring("rank 2 failed first: exit 7"));
  CHECK(run.survivors().empty());
}

TEST_CASE("a large rank is blamed though it dies slowly: by what it printed") {
  const LaunchEnd end = launch(probes(
      2, {"--on", "1", "--fill", "700", "--print-error", "Error: label 11 is not in [0, 10)\\n",
          "--exit", "7", "--on", "0", "--wait-exiting", "1", "--exit", "9"}));
  CHECK(end.code == 7);
  CHECK_THAT(end.err, ContainsSubstring("rank 1 failed first"));
}

TEST_CASE("a death record names the rank and the reason") {
  // Rank 1 says what is wrong, and leaves after rank 0, its victim, did.
  const LaunchEnd end =
      launch(probes(2, {"--on", "1", "--ignore-term", "--death", "batch 17 is empty", "--touch",
                        "OUT/said", "--sleep", "0.3", "--exit", "7", "--on", "0", "--wait-for",
                        "OUT/said", "--sleep", "0.05", "--exit", "9"}));
  CHECK(end.code == 7);
  CHECK_THAT(end.err, ContainsSubstring("rank 1"));
  CHECK_THAT(end.err, ContainsSubstring("batch 17 is empty"));
}

TEST_CASE("the launcher knows whether a program uses the runtime") {
  const auto err = [](std::vector<std::string> steps) {
    steps.insert(steps.begin(), {"-n", "2", "--strategy", "ddp", "--", probe_program()});
    return launch(steps).err;
  };
  CHECK_THAT(err({}), ContainsSubstring("no effect"));
  CHECK(err({"--ready"}).empty());
}

TEST_CASE("an exception that nobody catches is in the report") {
  const LaunchEnd end = launch(probes(
      2, {"--no-core", "--on", "1", "--throw", "out of batches", "--on", "0", "--sleep", "600"}));
  CHECK(end.code == 134);
  CHECK_THAT(end.err, ContainsSubstring("SIGABRT"));
  CHECK_THAT(end.err, ContainsSubstring("out of batches"));
}

TEST_CASE("programs that cannot be started") {
  const TemporaryFolder folder;
  folder.write("plain", "#!/bin/sh\n");
  folder.write("script", "#!/no/such/interpreter\n");
  folder.write("elf", std::string("\177ELF\2\1\1\0", 8) + std::string(200, '\0'));
  folder.write("shell", "echo from a script; exit 4\n");
  for (const char* name : {"script", "elf", "shell"})
    ::chmod((folder.path() + "/" + name).c_str(), 0755);
  const auto expect = [](const std::string& program, int code, const std::string& text) {
    INFO(program);
    LaunchRun run({"-n", "3", "--", program});
    const LaunchEnd end = run.wait();
    CHECK(end.code == code);
    CHECK_THAT(end.err, ContainsSubstring(text));
    CHECK(lines_in(end.err) == 1);
    CHECK(end.out.empty());
    CHECK(run.survivors().empty());
  };
  expect("no-such-program", 127, "no-such-program");
  expect(folder.path() + "/nothing", 127, "nothing");
  expect(folder.path(), 126, "folder");
  expect(folder.path() + "/plain", 126, "permission");
  expect(folder.path() + "/script", 126, "/no/such/interpreter");
  expect(folder.path() + "/elf", 126, "not a program for this machine");
  SECTION("a script without a #! line is one for the shell") {
    const LaunchEnd end = launch({"-n", "1", "--", folder.path() + "/shell"});
    CHECK(end.code == 4);
    CHECK(end.out == "from a script\n");
  }
  SECTION("PATH is the one that ranks get") {
    CHECK(launch({"-n", "1", "--env", "PATH=" + folder.path(), "--", "shell"}).code == 4);
  }
}

TEST_CASE("a stderr that nobody reads does not keep the launcher") {
  // A pipe that is full to the last byte; its reader comes when all is over.
  const std::string script =
      "mkfifo $OUT/pipe; exec 3<>$OUT/pipe; head -c 65536 /dev/zero >&3; \"$@\" 2>&3; "
      "echo code $?; head -c 65536 <&3 >/dev/null; head -n 1 <&3";
  const LaunchEnd end =
      launch({"-n", "1", "--", "sh", "-c", "exit 7"}, {.wrapper = {"sh", "-c", script, "sh"}});
  CHECK_THAT(end.out, ContainsSubstring("code 7\nmuster: rank 0 failed"));
}

TEST_CASE("a job that takes too long") {
  LaunchRun run({"-n", "2", "--timeout", "0.3", "--", probe_program(), "--sleep", "600"});
  const LaunchEnd end = run.wait();
  CHECK(end.code == 124);
  CHECK_THAT(end.err, ContainsSubstring("--timeout"));
  CHECK(run.survivors().empty());
}

TEST_CASE("settings that do not fit the job are usage errors, and nothing is started") {
  const auto refused = [](std::vector<std::string> words, const std::string& text) {
    words.insert(words.end(), {"-n", "2", "--", probe_program()});
    LaunchRun run(words);
    const LaunchEnd end = run.wait();
    CHECK(end.code == 2);
    CHECK_THAT(end.err, ContainsSubstring(text));
    CHECK_FALSE(std::filesystem::exists(run.path("rank_0.json")));
  };
  refused({"--stdin", "2"}, "no rank 2");
  refused({"--stdin", "first"}, "--stdin");
  refused({"--console-ranks", "0,7"}, "no rank 7");
  refused({"--prefix", "{rnak}"}, "{rnak}");
}

TEST_CASE("what a rank was doing is told though it can no longer say so") {
  LaunchRun run({"-n", "2", "--report", "/dev/stdout", "--", probe_program(), "--on", "1",
                 "--collective", "--sleep", "600", "--on", "0", "--wait-for", "OUT/in_collective_1",
                 "--exit", "7"});
  const LaunchEnd end = run.wait();
  CHECK(end.code == 7);
  CHECK_THAT(end.err, ContainsSubstring(
                          "  during   rank 1 was in all_reduce #12 'gradients 2/3', step 40\n"));
  CHECK_THAT(end.out, ContainsSubstring("\"label\": \"gradients 2/3\""));
  CHECK_THAT(end.out, ContainsSubstring("\"step\": 40"));
}

}  // namespace
}  // namespace muster::test
