// On a terminal.

#include "launcher/supervise/launch_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <fstream>
#include <thread>
#include <unistd.h>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using nlohmann::json;

json rank_of(const LaunchRun& run, int rank) {
  return json::parse(file_text(run.path("rank_" + std::to_string(rank) + ".json")));
}

LaunchRun::Options on_terminal(std::vector<std::string> wrapper = {}) {
  LaunchRun::Options options;
  options.terminal = true;
  options.environment = {{"NO_COLOR", "1"}};
  options.wrapper = std::move(wrapper);
  return options;
}

TEST_CASE("ranks see terminals, of our width less the prefix") {
  for (const int ranks : {1, 2}) {
    LaunchRun run({"-n", std::to_string(ranks), "--", probe_program(), "--print", "hello\\n"},
                  on_terminal());
    const LaunchEnd end = run.wait();
    CHECK(end.code == 0);
    const json last = rank_of(run, ranks - 1);
    CHECK(last["columns"] == (ranks == 1 ? 100 : 96));
    CHECK(last["terminals"] == json::array({ranks == 1 ? 1 : 0, 1, 1}));
    CHECK_THAT(end.out, ContainsSubstring(ranks == 1 ? "hello\r\n" : "[1] hello\r\n"));
  }
}

TEST_CASE("ranks are told of a new width") {
  LaunchRun run({"-n", "2", "--", probe_program(), "--count-signals", "--wait-columns", "56",
                 "--wait-for", "OUT/signals_0", "--wait-for", "OUT/signals_1"},
                on_terminal());
  run.wait_for_file("counting_0");
  run.wait_for_file("counting_1");
  run.resize(60);
  CHECK(run.wait().code == 0);
  CHECK(file_text(run.path("signals_1")) == "WINCH\n");
}

TEST_CASE("rank 0 reads from the terminal") {
  LaunchRun run({"-n", "2", "--", "sh", "-c",
                 "[ $RANK = 1 ] && exit; echo ready; read line; echo \"got <$line>\""},
                on_terminal());
  run.wait_for_output("ready");
  run.type("typed words\n");
  const LaunchEnd end = run.wait();
  CHECK(end.code == 0);
  CHECK_THAT(end.out, ContainsSubstring("[0] got <typed words>"));
}

TEST_CASE("Ctrl-C on the terminal reaches each rank once, and ends the launcher by SIGINT") {
  LaunchRun run(
      {"-n", "2", "--grace", "1", "--", probe_program(), "--count-signals", "--sleep", "600"},
      on_terminal());
  run.wait_for_file("counting_0");
  run.wait_for_file("counting_1");
  run.type("\003");
  const LaunchEnd end = run.wait();
  CHECK(end.signal == SIGINT);
  CHECK(file_text(run.path("signals_0")) == "INT\n");
  CHECK(file_text(run.path("signals_1")) == "INT\n");
  CHECK(run.survivors().empty());
}

TEST_CASE("a terminal that goes away ends the job as SIGHUP does") {
  LaunchRun run({"-n", "2", "--", probe_program(), "--count-signals", "--wait-for", "OUT/signals_0",
                 "--wait-for", "OUT/signals_1"},
                on_terminal());
  run.wait_for_file("counting_0");
  run.wait_for_file("counting_1");
  run.close_output();
  const LaunchEnd end = run.wait();
  CHECK(end.code == 128 + SIGHUP);
  CHECK(file_text(run.path("signals_0")) == "HUP\n");
  CHECK(file_text(run.path("signals_1")) == "HUP\n");
  CHECK(run.survivors().empty());
}

TEST_CASE("in the background the terminal is not ours to read") {
  // An interactive shell gives a background job a process group of its own.
  const std::string script = "set -m; \"$@\" & wait $!; echo \"code $?\"";
  LaunchRun run({"-n", "1", "--", probe_program(), "--copy-input"},
                on_terminal({"sh", "-c", script, "sh"}));
  run.wait_for_output("code 0");
  CHECK(run.wait().code == 0);
  CHECK(rank_of(run, 0)["fds"]["0"] == "/dev/null");
}

TEST_CASE("modes that a rank changed and did not put back are put back") {
  const std::string script = "stty -a > $OUT/before; \"$@\"; stty -a > $OUT/after";
  LaunchRun run({"-n", "1", "--", "sh", "-c", "stty -echo -icanon; kill -9 $$"},
                on_terminal({"sh", "-c", script, "sh"}));
  run.wait();
  CHECK_FALSE(file_text(run.path("before")).empty());
  CHECK(file_text(run.path("after")) == file_text(run.path("before")));
}

TEST_CASE("each rank's prefix has a colour of its own on a terminal that shows colours") {
  LaunchRun::Options options;
  options.terminal = true;
  options.environment = {{"TERM", "xterm"}, {"NO_COLOR", ""}};
  const std::vector<std::string> words{"-n", "2", "--", probe_program(), "--print", "x\\n"};
  const std::string out = launch(words, options).out;
  CHECK_THAT(out, ContainsSubstring("\x1b[36m[0] \x1b[0mx\r\n"));
  CHECK_THAT(out, ContainsSubstring("\x1b[33m[1] \x1b[0mx\r\n"));
  options.environment["TERM"] = "dumb";
  CHECK_THAT(launch(words, options).out, ContainsSubstring("\r\n[") || StartsWith("["));
  options.environment = {{"TERM", "xterm"}, {"NO_COLOR", "1"}};
  CHECK(launch(words, options).out.find('\x1b') == std::string::npos);
  // To a file or a pipe never.
  CHECK(launch(words, {.environment = {{"TERM", "xterm"}}}).out.find('\x1b') == std::string::npos);
}

TEST_CASE("bars of several ranks redraw with their prefix") {
  LaunchRun run({"-n", "2", "--", probe_program(), "--on", "0", "--print", "\\r10%\\r20%\\n"},
                on_terminal());
  CHECK_THAT(run.wait().out, ContainsSubstring("\r[0] 10%\r[0] 20%\r\n"));
}

}  // namespace
}  // namespace muster::test
