// --max-restarts: all ranks are started again after one failed, and after nothing else.

#include "launcher/supervise/launch_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;

/// Ranks that run a script of the shell, where N is how often they were started before.
std::vector<std::string> shells(std::vector<std::string> options, const std::string& script) {
  options.insert(options.end(), {"-n", "2", "--", "sh", "-c",
                                 "N=$MUSTER_RESTART_COUNT; : > $OUT/start_${RANK}_$N; " + script});
  return options;
}

long lines_in(const std::string& text) { return std::ranges::count(text, '\n'); }

/// How often ranks were started; one of them may be ended before its script runs.
int starts_of(const LaunchRun& run) {
  int count = 0;
  const auto started = [&](const char* rank) {
    return std::filesystem::exists(run.path("start_" + (rank + std::to_string(count))));
  };
  while (started("0_") || started("1_")) ++count;
  return count;
}

std::string line_of(const LaunchRun& run, const std::string& file) {
  auto text = file_text(run.path(file));
  text.resize(std::min(text.size(), text.find('\n')));
  return text;
}

TEST_CASE("ranks are started again until they succeed") {
  LaunchRun run(shells({"--max-restarts", "2"},
                       "echo $TORCHELASTIC_RESTART_COUNT $TORCHELASTIC_MAX_RESTARTS $PPID "
                       "> $OUT/told_${RANK}_$N; echo start $N; [ $N = 2 ] && exit; "
                       "[ $RANK = 1 ] && exit 7; sleep 600"));
  const LaunchEnd end = run.wait();
  CHECK(end.code == 0);
  CHECK(starts_of(run) == 3);
  std::vector<std::string> guardians;
  for (const std::string count : {"0", "1", "2"}) {
    const auto told = line_of(run, "told_1_" + count);
    CHECK(told.starts_with(count + " 2 "));
    guardians.push_back(told);
  }
  std::ranges::sort(guardians, {}, [](const std::string& text) { return text.substr(4); });
  CHECK(std::ranges::adjacent_find(guardians, {}, [](const std::string& text) {
          return text.substr(4);
        }) == guardians.end());
  // One line a restart, and what ranks print stays in the order of the starts.
  CHECK(lines_in(end.err) == 2);
  CHECK_THAT(end.err, ContainsSubstring("rank 1 failed first: exit 7"));
  CHECK_THAT(end.err, ContainsSubstring("; restart 1 of 2\n"));
  CHECK_THAT(end.err, ContainsSubstring("; restart 2 of 2\n"));
  CHECK(end.out.rfind("start 0") < end.out.find("start 1"));
  CHECK(end.out.rfind("start 1") < end.out.find("start 2"));
  CHECK(run.survivors().empty());
}

TEST_CASE("the last failure decides, and the report has all starts") {
  LaunchRun run(shells({"--max-restarts", "2", "--report", "/dev/stdout", "--quiet"},
                       "[ $RANK = 1 ] && exit $((40 + N)); sleep 600"));
  const LaunchEnd end = run.wait();
  CHECK(end.code == 42);
  CHECK(starts_of(run) == 3);
  CHECK(lines_in(end.err) == 3);
  const auto report = nlohmann::json::parse(end.out);
  CHECK(report["outcome"] == "rank_failed");
  CHECK(report["restarts"] == 2);
  REQUIRE(report["earlier_starts"].size() == 2);
  CHECK(report["earlier_starts"][0]["exit_code"] == 40);
  CHECK(report["earlier_starts"][1]["first_failure"]["exit_code"] == 41);
  CHECK(report["earlier_starts"][1]["ranks"].size() == 2);
  CHECK(report["first_failure"]["exit_code"] == 42);
}

TEST_CASE("ranks are not started again unless that was asked for") {
  LaunchRun run(shells({}, "exit 7"));
  CHECK(run.wait().code == 7);
  CHECK(starts_of(run) == 1);
}

TEST_CASE("exit codes decide whether ranks are started again") {
  const auto starts = [](std::vector<std::string> options, const std::string& script) {
    options.insert(options.begin(), {"--max-restarts", "1"});
    LaunchRun run(shells(options, script));
    run.wait();
    return starts_of(run);
  };
  CHECK(starts({"--restart-on", "3,9-11"}, "exit 10") == 2);
  CHECK(starts({"--restart-on", "3,9-11"}, "exit 7") == 1);
  CHECK(starts({"--restart-on", "137"}, "kill -9 $$") == 2);
  CHECK(starts({"--restart-on", "137"}, "exit 1") == 1);
  for (const std::string wrong_usage : {"2", "126", "127"}) {
    CHECK(starts({}, "exit " + wrong_usage) == 1);
    CHECK(starts({"--restart-on", "1-255"}, "exit " + wrong_usage) == 1);
  }
  CHECK(launch({"--max-restarts", "1", "--restart-on", "2", "--", "true"}).code == 2);
  CHECK(launch({"--max-restarts", "1", "--restart-on", "never", "--", "true"}).code == 2);
}

TEST_CASE("a program that cannot be started is not started again") {
  const LaunchEnd end = launch({"--max-restarts", "3", "-n", "2", "--", "no-such-program"});
  CHECK(end.code == 127);
  CHECK(lines_in(end.err) == 1);
}

TEST_CASE("a signal ends the job though restarts are left") {
  SECTION("while ranks run") {
    LaunchRun run(shells({"--max-restarts", "3"}, "[ $N = 0 ] && exit 7; sleep 600"));
    run.wait_for_file("start_0_1");
    run.wait_for_file("start_1_1");
    run.send(SIGTERM);
    CHECK(run.wait().code == 143);
    CHECK(starts_of(run) == 2);
    CHECK(run.survivors().empty());
  }
  SECTION("while the ranks of a failed start are ended") {
    LaunchRun run(shells({"--max-restarts", "3", "--grace", "600"},
                         "if [ $RANK = 1 ]; then until [ -e $OUT/ready ]; do sleep 0.05; done; "
                         "exit 7; fi; trap ': > $OUT/told' TERM; : > $OUT/ready; "
                         "until [ -e $OUT/done ]; do sleep 0.05; done"));
    run.wait_for_file("told");
    // Not at once: a signal for a whole group reaches ranks and launcher together.
    ::usleep(300'000);
    run.send(SIGTERM);
    run.send(SIGINT);
    const LaunchEnd end = run.wait();
    CHECK((end.code == 143 || end.code == 130));  // Of two that wait, the kernel chooses.
    CHECK_THAT(end.err, ContainsSubstring("rank 1 failed first: exit 7"));
    CHECK_THAT(end.err, ContainsSubstring("not restarted: SIG"));
    CHECK_THAT(end.err, ContainsSubstring("ended by SIG"));
    CHECK(starts_of(run) == 1);
    CHECK(run.survivors().empty());
  }
}

TEST_CASE("--timeout counts from the first start") {
  LaunchRun run(shells({"--max-restarts", "1000000", "--timeout", "1.5"}, "sleep 0.1; exit 7"));
  const LaunchEnd end = run.wait();
  CHECK((end.code == 124 || end.code == 7));  // It may pass between two starts.
  CHECK_THAT(end.err, ContainsSubstring("--timeout"));
  CHECK(run.survivors().empty());
}

TEST_CASE("no start overlaps the one before") {
  // A worker in another session, which ignores SIGTERM, is gone when the next start begins.
  LaunchRun run(shells({"--max-restarts", "1", "--grace", "0.2"},
                       "if [ $N = 0 ]; then setsid sh -c 'trap \"\" TERM; echo $$ > $OUT/w; "
                       "sleep 600' & until [ -s $OUT/w ]; do sleep 0.05; done; exit 7; fi; "
                       "kill -0 $(cat $OUT/w) 2>/dev/null && exit 9; exit 0"));
  CHECK(run.wait().code == 0);
  CHECK(starts_of(run) == 2);
}

TEST_CASE("what one start left does not reach the next") {
  const TemporaryFolder temporary;
  LaunchRun run(shells({"--max-restarts", "1"},
                       "[ $N = 0 ] && printf '{\"message\":\"old news\"}' > "
                       "$TORCHELASTIC_ERROR_FILE; exit 7"),
                {.environment = {{"XDG_RUNTIME_DIR", ""}, {"TMPDIR", temporary.path()}}});
  const LaunchEnd end = run.wait();
  CHECK(end.code == 7);
  CHECK(end.err.find("old news") == std::string::npos);
  CHECK(std::filesystem::is_empty(temporary.path()));
}

TEST_CASE("a port that was asked for serves every start") {
  // Rank 0 listens on the socket that it inherits, or on one of its own, and is connected to; what
  // is left of that (TIME_WAIT) is there when the next start wants the port.
  const std::string python =
      "import os, socket, sys\n"
      "rank, start = os.environ['RANK'], os.environ['MUSTER_RESTART_COUNT']\n"
      "address = ('127.0.0.1', int(os.environ['MASTER_PORT']))\n"
      "if rank == '0':\n"
      "  if sys.argv[1] == 'inherited':\n"
      "    s = socket.socket(fileno=int(os.environ['MUSTER_MASTER_FD']))\n"
      "  else:\n"
      "    s = socket.socket()\n"
      "    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
      "    s.bind(address)\n"
      "  s.listen()\n"
      "  peer = s.accept()[0]\n"
      "  peer.send(b'x')\n"
      "  peer.close()\n"
      "else:\n"
      "  while True:\n"
      "    try:\n"
      "      peer = socket.create_connection(address)\n"
      "      break\n"
      "    except ConnectionRefusedError:\n"
      "      pass\n"
      "  assert peer.recv(9) == b'x'\n"
      "  print('met on', address[1], flush=True)\n"
      "sys.exit(0 if start == '2' else 7)\n";
  for (const char* socket : {"inherited", "own"}) {
    const LaunchEnd end = launch({"--max-restarts", "2", "--master-port", "29653", "-n", "2",
                                  "--no-prefix", "--", "python3", "-c", python, socket});
    INFO(end.err);
    CHECK(end.code == 0);
    CHECK(end.out == "met on 29653\nmet on 29653\nmet on 29653\n");
  }
}

TEST_CASE("a launcher that is killed during a later start leaves nothing behind") {
  LaunchRun run(shells({"--max-restarts", "1"}, "[ $N = 0 ] && exit 7; setsid sleep 600"));
  run.wait_for_file("start_0_1");
  run.wait_for_file("start_1_1");
  run.send(SIGKILL);
  run.wait();
  CHECK(run.survivors_after_a_second().empty());
}

}  // namespace
}  // namespace muster::test
