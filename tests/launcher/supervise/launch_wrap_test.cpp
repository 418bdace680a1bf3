// Ranks under another program, and ranks that stop for a debugger.

#include "launcher/supervise/launch_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("a wrapped rank runs under the command, the others as they are") {
  LaunchRun run({"-n", "3", "--wrap", "env 'WRAPPED=a b'", "--wrap-ranks", "1", "--",
                 probe_program(), "--exit", "0"});
  CHECK(run.wait().code == 0);
  const auto rank = [&](int number) {
    return nlohmann::json::parse(file_text(run.path("rank_" + std::to_string(number) + ".json")));
  };
  CHECK(rank(1)["env"]["WRAPPED"] == "a b");
  CHECK_FALSE(rank(0)["env"].contains("WRAPPED"));
  CHECK_FALSE(rank(2)["env"].contains("WRAPPED"));
}

TEST_CASE("all ranks are wrapped if none is named") {
  LaunchRun run({"-n", "2", "--wrap", "env WRAPPED=1", "--", probe_program(), "--exit", "0"});
  CHECK(run.wait().code == 0);
  for (const std::string name : {"rank_0.json", "rank_1.json"})
    CHECK(nlohmann::json::parse(file_text(run.path(name)))["env"]["WRAPPED"] == "1");
}

TEST_CASE("the one wrapped rank gets the launcher's input") {
  LaunchRun run(
      {"-n", "2", "--wrap", "env", "--wrap-ranks", "1", "--", probe_program(), "--copy-input"},
      {.input = "for the debugger\n"});
  CHECK(run.wait().code == 0);
  CHECK(file_text(run.path("input_1")) == "for the debugger\n");
  CHECK(file_text(run.path("input_0")).empty());
}

TEST_CASE("the one wrapped rank has the terminal, and its Ctrl-C, to itself") {
  LaunchRun run({"-n", "2", "--wrap", "env", "--wrap-ranks", "1", "--", probe_program(), "--on",
                 "1", "--count-signals", "--print", "(prompt) ", "--wait-for", "OUT/signals_1"},
                {.terminal = true});
  run.wait_for_file("counting_1");
  run.wait_for_output("(prompt) ");
  run.type("\x03");
  const LaunchEnd end = run.wait();
  CHECK(end.code == 0);
  CHECK(file_text(run.path("signals_1")) == "INT\n");
  CHECK(end.out.find("[1]") == std::string::npos);
  const auto rank = nlohmann::json::parse(file_text(run.path("rank_1.json")));
  CHECK(rank["terminals"] == nlohmann::json::parse("[1,1,1]"));
}

TEST_CASE("Ctrl-C is for the job once the wrapped rank has ended, or the job is being ended") {
  SECTION("the wrapped rank has ended") {
    LaunchRun run({"-n", "2", "--wrap", "env", "--wrap-ranks", "1", "--", probe_program(), "--on",
                   "0", "--wait-exiting", "1", "--touch", "OUT/alone", "--sleep", "600"},
                  {.terminal = true});
    run.wait_for_file("alone");
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // The launcher hears of it, too.
    run.type("\x03");
    CHECK(run.wait().signal == SIGINT);
  }
  SECTION("the job is being ended") {
    LaunchRun run({"-n", "2", "--grace", "600", "--wrap", "env", "--wrap-ranks", "1", "--",
                   probe_program(), "--ignore-term", "--touch-rank", "deaf", "--sleep", "600"},
                  {.terminal = true});
    run.wait_for_file("deaf_0");
    run.wait_for_file("deaf_1");
    run.send(SIGTERM);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    run.type("\x03");
    CHECK(run.wait().code == 143);
  }
}

TEST_CASE("a wrap that cannot be is refused before anything starts") {
  const auto refused = [](std::vector<std::string> options, const std::string& why) {
    options.insert(options.end(), {"--", probe_program()});
    const auto end = launch(std::move(options));
    CHECK(end.code == 2);
    CHECK_THAT(end.err, ContainsSubstring(why));
  };
  refused({"-n", "2", "--wrap", "gdb 'x"}, "--wrap gdb 'x: a ' is not closed");
  refused({"-n", "2", "--wrap", "env", "--wrap-ranks", "2"}, "there is no rank 2");
  refused({"-n", "2", "--wrap-ranks", "1"}, "there is no command to wrap them in");
  CHECK(launch({"-n", "2", "--wrap", "no-such-debugger --args", "--", probe_program()}).code ==
        127);
}

TEST_CASE("a dry run shows which ranks are wrapped, and that they stop") {
  const auto end = launch({"-n", "3", "--devices", "cpu", "--dry-run", "--stop-on-exec", "--wrap",
                           "gdb -ex 'b main' --args", "--wrap-ranks", "1", "--", "./train", "-x"});
  CHECK(end.code == 0);
  CHECK_THAT(end.out, ContainsSubstring("program   ./train -x   (ranks 0, 2)\n"));
  CHECK_THAT(end.out, ContainsSubstring("program   gdb -ex 'b main' --args ./train -x   (rank 1)"));
  CHECK_THAT(end.out, ContainsSubstring("--stop-on-exec"));
}

TEST_CASE("ranks stop at the start of their program until they are continued") {
  LaunchRun run({"-n", "2", "--stop-on-exec", "--", probe_program(), "--exit", "0"});
  run.wait_for_output("rank 1 is stopped at its start, pid ");
  run.wait_for_output("rank 0 is stopped at its start, pid ");
  const auto stopped = [](pid_t pid) {
    const auto text = file_text("/proc/" + std::to_string(pid) + "/stat");
    return !text.empty() && text[text.rfind(')') + 2] == 'T';
  };
  std::vector<pid_t> ranks;
  for (const pid_t pid : run.survivors()) {
    std::error_code ignored;
    const auto program =
        std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", ignored);
    if (program.filename() == "launcher_probe") ranks.push_back(pid);
  }
  REQUIRE(ranks.size() == 2);
  for (int i = 0; i < 2000 && !(stopped(ranks[0]) && stopped(ranks[1])); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(stopped(ranks[0]));
  CHECK(stopped(ranks[1]));
  CHECK_FALSE(std::filesystem::exists(run.path("rank_0.json")));
  for (const pid_t pid : ranks) ::kill(pid, SIGCONT);
  const LaunchEnd end = run.wait();
  CHECK(end.code == 0);
  CHECK(std::filesystem::exists(run.path("rank_0.json")));
  CHECK(std::filesystem::exists(run.path("rank_1.json")));
  CHECK_THAT(end.err, ContainsSubstring(": gdb -p "));
}

TEST_CASE("a job of stopped ranks can be ended, and a program that is not there is told") {
  LaunchRun run({"-n", "2", "--stop-on-exec", "--", probe_program(), "--sleep", "600"});
  run.wait_for_output("rank 1 is stopped at its start");
  run.send(SIGTERM);
  CHECK(run.wait().code == 143);
  CHECK(run.survivors().empty());
  CHECK(launch({"-n", "2", "--stop-on-exec", "--", "/dev/null"}).code == 126);
}

}  // namespace
}  // namespace muster::test
