// What ranks print and read.

#include "launcher/sanitized.hpp"
#include "launcher/supervise/launch_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <sys/resource.h>
#include <thread>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;

std::string printed_lines(int rank, long count) {
  std::string text;
  for (long i = 0; i < count; ++i) {
    text += "line " + std::to_string(i) + " of rank " + std::to_string(rank) + " " +
            std::string(static_cast<std::size_t>(i * 7 % 301), 'x') + "\n";
  }
  return text;
}

/// Lines by their prefix "[N] ", which is taken off.
std::map<std::string, std::string> by_rank(const std::string& text) {
  std::map<std::string, std::string> ranks;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    const auto end = line.find("] ");
    ranks[line.substr(0, end + 1)] += line.substr(end + 2) + "\n";
  }
  return ranks;
}

/// The largest resident size that a process had, MiB.
long peak_mib(pid_t pid) {
  const std::string text = file_text("/proc/" + std::to_string(pid) + "/status");
  const auto at = text.find("VmHWM:");
  return at == std::string::npos ? -1 : std::atol(text.c_str() + at + 6) / 1024;
}

TEST_CASE("lines of several ranks stay whole and carry their rank") {
  LaunchRun run({"-n", "8", "--", probe_program(), "--lines", "10000"});
  const LaunchEnd end = run.wait();
  CHECK(end.code == 0);
  const auto ranks = by_rank(end.out);
  REQUIRE(ranks.size() == 8);
  for (int rank = 0; rank < 8; ++rank)
    CHECK(ranks.at("[" + std::to_string(rank) + "]") == printed_lines(rank, 10000));
}

TEST_CASE("stdout and stderr stay apart") {
  const LaunchEnd end =
      launch({"-n", "2", "--", probe_program(), "--print", "out\\n", "--print-error", "err\\n"});
  CHECK(by_rank(end.out) == std::map<std::string, std::string>{{"[0]", "out\n"}, {"[1]", "out\n"}});
  CHECK(by_rank(end.err) == std::map<std::string, std::string>{{"[0]", "err\n"}, {"[1]", "err\n"}});
}

TEST_CASE("one rank looks as it does without a launcher") {
  const std::vector<std::string> words{
      "-n", "1", "--", probe_program(), "--print", "a\\rb\\0", "--print-error", "\\xff\\xfe"};
  for (const bool merged : {false, true}) {
    const LaunchEnd end = launch(words, {.error_to_output = merged});
    CHECK(end.code == 0);
    CHECK(end.out == std::string("a\rb\0", 4) + (merged ? "\xff\xfe" : ""));
    CHECK(end.err == (merged ? "" : "\xff\xfe"));
  }
}

TEST_CASE("one rank's stdout and stderr keep their order in one file") {
  std::vector<std::string> words{"-n", "1", "--", probe_program()};
  std::string expected;
  for (int i = 0; i < 50; ++i) {
    words.insert(words.end(), {"--print", "o" + std::to_string(i) + "\\n", "--print-error",
                               "e" + std::to_string(i) + "\\n"});
    expected += "o" + std::to_string(i) + "\ne" + std::to_string(i) + "\n";
  }
  CHECK(launch(words, {.error_to_output = true}).out == expected);
}

TEST_CASE("prefixes can be changed, and turned off") {
  const std::vector<std::string> steps{"--", probe_program(), "--print", "x\\n"};
  const auto out = [&steps](std::vector<std::string> words) {
    words.insert(words.end(), steps.begin(), steps.end());
    return launch(words).out;
  };
  CHECK(out({"-n", "1", "--prefix", "<{rank}/{local_rank}/{node}> "}) == "<0/0/0> x\n");
  CHECK(out({"-n", "2", "--no-prefix"}) == "x\nx\n");
}

TEST_CASE("a part of a line is shown before its end comes") {
  LaunchRun run({"-n", "2", "--", probe_program(), "--on", "0", "--print", "Continue? ",
                 "--wait-for", "OUT/go", "--print", "yes\\n", "--on", "1", "--wait-for", "OUT/go"});
  run.wait_for_output("[0] Continue? ");
  std::ofstream(run.path("go")).flush();
  CHECK(run.wait().out == "[0] Continue? yes\n");
}

TEST_CASE("a last line without an end is shown once") {
  const LaunchEnd end =
      launch({"-n", "2", "--", probe_program(), "--on", "1", "--print", "the end"});
  CHECK(end.out == "[1] the end\n");
}

TEST_CASE("zeros, broken UTF-8 and bars pass") {
  const LaunchEnd end =
      launch({"-n", "2", "--", probe_program(), "--on", "0", "--print", "a\\0b\\xff\\xc3\\n",
              "--print", "1%\\r2%\\r3%\\n", "--print", "dos\\r\\n"});
  CHECK(end.out == std::string("[0] a\0b\xff\xc3\n[0] 1%\r[0] 2%\r[0] 3%\n[0] dos\r\n", 40));
}

TEST_CASE("ranks can be filtered, and a filtered rank's last lines are still told") {
  const LaunchEnd end = launch({"-n",
                                "12",
                                "--console-ranks",
                                "0,10-11",
                                "--",
                                probe_program(),
                                "--on",
                                "5",
                                "--sleep",
                                "0.3",
                                "--print-error",
                                "the disk is full\\n",
                                "--exit",
                                "4",
                                "--on",
                                "all",
                                "--print",
                                "hello\\n",
                                "--sleep",
                                "600"});
  CHECK(end.code == 4);
  CHECK(by_rank(end.out).size() == 3);
  CHECK_THAT(end.out, ContainsSubstring("[10] hello"));
  CHECK_THAT(end.err, ContainsSubstring("the disk is full"));
  CHECK(launch({"-n", "1", "--console-ranks", "none", "--", probe_program(), "--print", "x"})
            .out.empty());
}

TEST_CASE("what is written without an end of line is seen, each time") {
  for (const std::string ranks : {"1", "2"}) {
    LaunchRun run({"-n", ranks, "--", probe_program(), "--print", ".", "--wait-for", "OUT/1",
                   "--print", ",", "--wait-for", "OUT/2", "--print", ";"});
    const std::string prefix = ranks == "1" ? "" : "[0] ";
    run.wait_for_output(".");
    std::ofstream(run.path("1")).flush();
    run.wait_for_output(",");
    std::ofstream(run.path("2")).flush();
    CHECK(run.wait().code == 0);
  }
}

/// Much output of all ranks, to a file: nothing is lost or changed, and the launcher stays small.
void pass_much(int count, long lines) {
  std::vector<std::string> words{"-n",      std::to_string(count), "--", probe_program(),
                                 "--lines", std::to_string(lines)};
  for (int rank = 0; rank < count; ++rank) {
    const std::string number = std::to_string(rank);
    words.insert(words.end(), {"--on", number, "--touch", "OUT/written_" + number});
  }
  words.insert(words.end(), {"--on", "all", "--wait-for", "OUT/go"});
  LaunchRun run(words, {.wrapper = {"sh", "-c", "exec \"$@\" > $OUT/all", "sh"}});
  for (int rank = 0; rank < count; ++rank) run.wait_for_file("written_" + std::to_string(rank));
  if (!sanitized) CHECK(peak_mib(run.pid()) <= 12);
  std::ofstream(run.path("go")).flush();
  CHECK(run.wait().code == 0);
  const auto ranks = by_rank(file_text(run.path("all")));
  for (int rank = 0; rank < count; ++rank) {
    const bool exact = ranks.at("[" + std::to_string(rank) + "]") == printed_lines(rank, lines);
    CHECK(exact);
  }
}

TEST_CASE("10 MB pass byte for byte and in little memory") { pass_much(2, 30'000); }

TEST_CASE("200 MB pass byte for byte and in little memory", "[.]") { pass_much(2, 600'000); }

TEST_CASE("8 ranks of 100000 lines each", "[.]") { pass_much(8, 100'000); }

TEST_CASE("a stdout that others made non-blocking loses nothing") {
  const std::string script =
      "import fcntl, os, sys; fcntl.fcntl(1, fcntl.F_SETFL, os.O_NONBLOCK); "
      "os.execvp(sys.argv[1], sys.argv[1:])";
  for (const std::string prefix : {"--no-prefix", "--prefix=[{rank}] "}) {
    LaunchRun run({"-n", "2", prefix, "--", probe_program(), "--on", "1", "--lines", "20000"},
                  {.wrapper = {"python3", "-c", script}});
    run.wait_for_file("rank_1.json");
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const LaunchEnd end = run.wait();
    CHECK(end.code == 0);
    const bool complete =
        (prefix == "--no-prefix" ? end.out : by_rank(end.out).at("[1]")) == printed_lines(1, 20000);
    CHECK(complete);
  }
}

TEST_CASE("a slow reader makes ranks wait and gets everything") {
  LaunchRun run({"-n", "2", "--", probe_program(), "--lines", "60000", "--touch", "OUT/written"});
  run.wait_for_file("rank_1.json");
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  CHECK_FALSE(std::filesystem::exists(run.path("written")));
  if (!sanitized) CHECK(peak_mib(run.pid()) < 64);
  const LaunchEnd end = run.wait();
  CHECK(end.code == 0);
  const bool complete = by_rank(end.out).at("[1]") == printed_lines(1, 60000);
  CHECK(complete);
}

TEST_CASE("the launcher answers signals while nobody reads") {
  LaunchRun run({"-n", "2", "--grace", "1", "--", probe_program(), "--lines", "1000000000"});
  run.wait_for_file("rank_1.json");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  run.send(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  run.send(SIGINT);
  CHECK(run.wait().code == 130);
  CHECK(run.survivors().empty());
}

TEST_CASE("a reader that goes away ends the job quietly") {
  for (const char* ranks : {"1", "3"}) {
    LaunchRun run({"-n", ranks, "--", probe_program(), "--lines", "1000000000"});
    run.wait_for_output("line 1 of rank");
    run.close_output();
    const LaunchEnd end = run.wait();
    CHECK(end.code == 141);
    CHECK(end.err.empty());
    CHECK(run.survivors().empty());
  }
}

TEST_CASE("a very long line is not mixed with others") {
  std::string part(50'000, 'x');
  std::vector<std::string> words{"-n", "2", "--", probe_program(), "--on", "0"};
  for (int i = 0; i < 20; ++i) words.insert(words.end(), {"--print", part});
  words.insert(words.end(), {"--print", "\\n", "--on", "1", "--lines", "3000"});
  const LaunchEnd end = launch(words);
  const auto ranks = by_rank(end.out);
  CHECK(ranks.at("[0]") == std::string(1'000'000, 'x') + "\n");
  CHECK(ranks.at("[1]") == printed_lines(1, 3000));
}

TEST_CASE("rank 0 reads our input, to its end, and nobody else does") {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "line " + std::to_string(i) + "\n";
  const auto inputs = [&text](std::vector<std::string> words) {
    words.insert(words.end(), {"-n", "2", "--", probe_program(), "--copy-input"});
    LaunchRun run(words, {.input = text});
    CHECK(run.wait().code == 0);
    return std::pair{file_text(run.path("input_0")), file_text(run.path("input_1"))};
  };
  CHECK(inputs({}) == std::pair{text, std::string()});
  CHECK(inputs({"--stdin", "1"}) == std::pair{std::string(), text});
  CHECK(inputs({"--stdin", "all"}) == std::pair{text, text});
  CHECK(inputs({"--stdin", "none"}) == std::pair{std::string(), std::string()});
}

TEST_CASE("input that nobody reads is left for the next program") {
  const TemporaryFolder folder;
  folder.write("input", "one\ntwo\n");
  const std::string script = "(\"$@\"; cat) < " + folder.path() + "/input";
  CHECK(
      launch({"--stdin", "none", "-n", "2", "--", "true"}, {.wrapper = {"sh", "-c", script, "sh"}})
          .out == "one\ntwo\n");
}

TEST_CASE("a file can be copied to all ranks") {
  const TemporaryFolder folder;
  std::string text(1'000'000, 'y');
  folder.write("input", text);
  LaunchRun run({"--stdin", "all", "-n", "3", "--", probe_program(), "--copy-input"},
                {.wrapper = {"sh", "-c", "exec \"$@\" < " + folder.path() + "/input", "sh"}});
  CHECK(run.wait().code == 0);
  for (const char* name : {"input_0", "input_1", "input_2"})
    CHECK(file_text(run.path(name)) == text);
}

TEST_CASE("input that is always ready is copied, and ends") {
  // What epoll refuses: /dev/null, a folder.
  for (const std::string input : {"/dev/null", "/"}) {
    CAPTURE(input);
    LaunchRun run({"-n", "2", "--stdin", "all", "--", probe_program(), "--copy-input"},
                  {.wrapper = {"sh", "-c", "exec \"$@\" <" + input, "sh"}});
    const LaunchEnd end = run.wait();
    CHECK(end.code == 0);
    CHECK(end.err.empty());
  }
}

}  // namespace
}  // namespace muster::test
