// Jobs that hang: what is said of them, when, and what is left alone.

#include "launcher/supervise/launch_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Steps = std::vector<std::string>;

/// `count` ranks, `options` for the launcher, and steps of the probe.
Steps ranks(int count, const Steps& options, const Steps& steps) {
  Steps words{"-n", std::to_string(count)};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", probe_program()});
  words.insert(words.end(), steps.begin(), steps.end());
  return words;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// Rank 1 of 3 is in its own code; the others wait for it, and give up.
Steps one_missing(const std::string& reason) {
  return {"--ready",
          "--on",
          "1",
          "--step",
          "41",
          "--touch",
          "OUT/in_collective_1",
          "--sleep",
          "600",
          "--on",
          "all",
          "--collective",
          "--wait-in-collective",
          "--wait-for",
          "OUT/in_collective_1",
          "--on",
          "0",
          "--wait-for",
          "OUT/in_collective_2",
          "--stuck",
          reason,
          "--on",
          "2",
          "--wait-for",
          "OUT/in_collective_0",
          "--stuck",
          reason};
}

const std::string missing_verdict =
    "ranks 0, 2 wait in all_reduce #12 'gradients 2/3'; rank 1 is in its own code at step 41";

TEST_CASE("ranks that are stuck are all looked at before they give up, and told of once") {
  const TemporaryFolder folder;
  const std::string report = folder.path() + "/report.json";
  LaunchRun hung(ranks(3, {"--report", report}, one_missing("deadline")));
  const LaunchEnd end = hung.wait();
  INFO(end.err);
  CHECK(end.code == 9);
  CHECK_THAT(end.err, ContainsSubstring("has waited too long: " + missing_verdict + "\n"));
  CHECK(count_of(end.err, missing_verdict) == 1);
  CHECK(end.err.find(missing_verdict) < end.err.find("failed first"));
  CHECK_FALSE(std::filesystem::exists(hung.path("unanswered_0")));
  CHECK_FALSE(std::filesystem::exists(hung.path("unanswered_2")));
  CHECK_THAT(end.err, ContainsSubstring("stack of rank 1"));
  CHECK_THAT(end.err, ContainsSubstring("sleep_for  (launcher_probe)"));
  CHECK_THAT(end.err, ContainsSubstring("of float32 [1024], 4 KiB, running for"));
  const auto json = nlohmann::json::parse(file_text(report));
  REQUIRE(json["hangs"].size() == 1);
  CHECK(json["hangs"][0]["verdict"] == missing_verdict);
  CHECK(json["hangs"][0]["cause"] == "deadline");
  CHECK(json["hangs"][0]["ranks"][1]["stacks"][0]["frames"].size() > 3);
  CHECK(json["hangs"][0]["ranks"][0]["collective"]["tensor"] == "float32 [1024]");
  CHECK(hung.survivors().empty());
}

TEST_CASE("a rank that left with 0 is told of; one that failed is told of by its failure") {
  SECTION("it left") {
    const auto end = launch(ranks(
        2, {},
        {"--ready", "--on", "1", "--wait-for", "OUT/in_collective_0", "--step", "41", "--exit", "0",
         "--on", "0", "--collective", "--wait-in-collective", "--stuck", "lost"}));
    INFO(end.err);
    CHECK(end.code == 9);
    CHECK_THAT(end.err,
               ContainsSubstring("rank 0 misses another rank: rank 0 waits in all_reduce #12 "
                                 "'gradients 2/3'; rank 1 has exited with 0 at step 41\n"));
  }
  SECTION("it failed") {
    const auto end = launch(
        ranks(2, {},
              {"--ready", "--on", "1", "--wait-for", "OUT/in_collective_0", "--exit", "7", "--on",
               "0", "--ignore-term", "--collective", "--wait-in-collective", "--stuck", "lost"}));
    INFO(end.err);
    CHECK(end.code == 7);
    CHECK_THAT(end.err, !ContainsSubstring("misses another rank"));
    CHECK_THAT(end.err, ContainsSubstring("rank 1 failed first"));
  }
}

TEST_CASE("SIGQUIT tells what all ranks do, and the job goes on") {
  LaunchRun run(
      ranks(2, {},
            {"--ready", "--on", "0", "--collective", "--wait-in-collective", "--on", "1", "--step",
             "3", "--touch", "OUT/in_collective_1", "--on", "all", "--wait-for", "OUT/done"}));
  run.wait_for_file("in_collective_0");
  run.wait_for_file("in_collective_1");
  run.send(SIGQUIT);
  run.wait_for_output("stack of");
  run.send(SIGQUIT);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  std::ofstream(run.path("done")).flush();
  const LaunchEnd end = run.wait();
  INFO(end.err);
  CHECK(end.code == 0);
  CHECK_THAT(end.err, ContainsSubstring("muster: rank 0 waits in all_reduce #12 'gradients 2/3'; "
                                        "rank 1 is in its own code at step 3\n"));
}

TEST_CASE("SIGQUIT tells the processes and stacks of a program that reports nothing") {
  LaunchRun run({"-n", "2", "--", "sh", "-c", "touch \"$OUT/started_$RANK\"; exec sleep 600"});
  run.wait_for_file("started_0");
  run.wait_for_file("started_1");
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  run.send(SIGQUIT);
  run.wait_for_output("stack of");
  run.send(SIGTERM);
  const LaunchEnd end = run.wait();
  INFO(end.err);
  CHECK(end.code == 143);
  CHECK_THAT(end.err, ContainsSubstring("no rank reports to muster"));
  CHECK_THAT(end.err, ContainsSubstring("nanosleep  (libc.so.6)"));
}

TEST_CASE("where nobody may trace, ranks with our runtime tell of their own stacks") {
  const int error = GENERATE(ENOSYS, EPERM);
  LaunchRun::Options options;
  options.wrapper = {probe_program(), "--in-sandbox", std::to_string(error)};
  LaunchRun run(ranks(2, {},
                      {"--on", "0", "--tell-stack", "--ready", "--on", "all", "--collective",
                       "--wait-for", "OUT/done"}),
                options);
  run.wait_for_file("in_collective_0");
  run.wait_for_file("in_collective_1");
  run.send(SIGQUIT);
  run.wait_for_output("no stack was read");
  std::ofstream(run.path("done")).flush();
  const LaunchEnd end = run.wait();
  INFO(end.err);
  CHECK(end.code == 0);
  CHECK_THAT(end.err, ContainsSubstring("sleep_for  (launcher_probe)"));
  CHECK(count_of(end.err, "no stack was read") == 2);
}

TEST_CASE("a step that stands still ends the job with 124, after all ranks were looked at") {
  LaunchRun run(ranks(2, {"--hang-timeout", "0.5"},
                      {"--ready", "--steps", "0.2", "--on", "0", "--sleep", "600", "--on", "1",
                       "--collective", "--wait-in-collective", "--sleep", "600"}));
  const LaunchEnd end = run.wait();
  INFO(end.err);
  CHECK(end.code == 124);
  CHECK_THAT(end.err, ContainsSubstring("no step of rank 0 for "));
  CHECK_THAT(end.err, ContainsSubstring(": rank 1 waits in all_reduce #12 'gradients 2/3'; rank 0 "
                                        "is in its own code at step 10\n"));
  CHECK_THAT(end.err, ContainsSubstring("muster: the job stood still: no step of rank 0 for "));
  CHECK_THAT(end.err, ContainsSubstring("(--hang-timeout)"));
  CHECK(run.survivors().empty());
}

TEST_CASE(
    "steps are no hang while they come, before the first, while a rank is busy, or unwatched") {
  const auto ends_well = [](const Steps& options, const Steps& steps) {
    const auto end = launch(ranks(2, options, steps));
    INFO(end.err);
    CHECK(end.code == 0);
    CHECK(end.err.empty());
  };
  const Steps watched{"--hang-timeout", "2"};
  SECTION("they come") { ends_well(watched, {"--ready", "--steps", "3"}); }
  SECTION("none came yet") { ends_well(watched, {"--ready", "--sleep", "3"}); }
  SECTION("one rank is busy and the other waits for it") {
    ends_well(watched, {"--ready", "--step", "1", "--on", "0", "--busy", "evaluation", "--sleep",
                        "3", "--end-busy", "--on", "1", "--wait-in-collective", "--sleep", "3.1"});
  }
  SECTION("the program tells nothing") { ends_well(watched, {"--sleep", "3"}); }
  SECTION("nobody asked") { ends_well({}, {"--ready", "--step", "1", "--sleep", "3"}); }
}

TEST_CASE("a job that was stopped does not count the time") {
  LaunchRun run(ranks(2, {"--hang-timeout", "2"},
                      {"--ready", "--step", "1", "--touch", "OUT/stepped", "--steps", "4"}));
  run.wait_for_file("stepped");
  run.send(SIGTSTP);
  std::this_thread::sleep_for(std::chrono::milliseconds(3000));
  run.send(SIGCONT);
  const LaunchEnd end = run.wait();
  INFO(end.err);
  CHECK(end.code == 0);
  CHECK(end.err.empty());
}

TEST_CASE("with --quiet a hang is one line") {
  LaunchRun run(ranks(3, {"--quiet"}, one_missing("deadline")));
  const LaunchEnd end = run.wait();
  INFO(end.err);
  CHECK_THAT(end.err, ContainsSubstring(missing_verdict));
  CHECK_THAT(end.err, !ContainsSubstring("stack of"));
}

/// A "python" that sleeps, and a py-spy beside it that is this script.
std::string fake_python(const TemporaryFolder& folder, const std::string& py_spy) {
  const auto python = folder.path() + "/python3";
  std::filesystem::copy_file("/bin/sleep", python);
  std::ofstream(folder.path() + "/py-spy") << "#!/bin/sh\n" << py_spy;
  std::filesystem::permissions(folder.path() + "/py-spy", std::filesystem::perms::owner_all);
  return python;
}

TEST_CASE("Python's own functions come from py-spy") {
  const TemporaryFolder folder;
  SECTION("that answers") {
    const auto python = fake_python(
        folder,
        "[ \"$1 $2\" = 'dump --pid' ] || exit 1\n"
        "echo \"Process $3: python3 train.py\"; echo 'Python v3.11.2 (/usr/bin/python3.11)'; echo\n"
        "echo \"Thread $3 (idle): \\\"MainThread\\\"\"\n"
        "echo '    inner (train.py:2)'; echo '    <module> (train.py:3)'\n");
    LaunchRun run(
        {"-n", "2", "--", "sh", "-c", "touch \"$OUT/started_$RANK\"; exec " + python + " 600"});
    run.wait_for_file("started_0");
    run.wait_for_file("started_1");
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    run.send(SIGQUIT);
    run.wait_for_output("<module> (train.py:3)");
    run.send(SIGTERM);
    const auto end = run.wait();
    INFO(end.err);
    CHECK_THAT(end.err, ContainsSubstring("  stack of ranks 0, 1\n    MainThread (idle)\n"
                                          "      inner (train.py:2)\n"));
  }
  SECTION("that does not end") {
    const auto python = fake_python(folder, "exec sleep 600\n");
    LaunchRun run(
        {"-n", "1", "--", "sh", "-c", "touch \"$OUT/started_0\"; exec " + python + " 600"});
    run.wait_for_file("started_0");
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    run.send(SIGQUIT);
    run.wait_for_output("py-spy told nothing");
    run.send(SIGTERM);
    CHECK(run.wait().code == 143);
    CHECK(run.survivors_after_a_second().empty());
  }
}

TEST_CASE("whoever asks again and again gets answers, and the report keeps some of them") {
  const TemporaryFolder folder;
  const std::string report = folder.path() + "/report.json";
  LaunchRun run({"-n", "1", "--report", report, "--", "sh", "-c",
                 "touch \"$OUT/started_0\"; exec sleep 600"});
  run.wait_for_file("started_0");
  for (int i = 0; i < 60; ++i) {
    run.send(SIGQUIT);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  run.wait_for_output("stack of");
  run.send(SIGTERM);
  const auto end = run.wait();
  CHECK(end.code == 143);
  const auto hangs = nlohmann::json::parse(file_text(report))["hangs"].size();
  CHECK(hangs > 1);
  CHECK(hangs <= 10);
}

}  // namespace
}  // namespace muster::test
