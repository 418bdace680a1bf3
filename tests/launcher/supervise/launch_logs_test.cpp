// What ranks print, in files.

#include "launcher/supervise/launch_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sys/mount.h>
#include <thread>
#include <unistd.h>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

std::vector<std::string> logged(const std::string& folder, std::vector<std::string> words) {
  words.insert(words.begin(), {"--log-dir", folder});
  return words;
}

TEST_CASE("each rank's streams lie in files of their own, with or without the console") {
  const TemporaryFolder folder;
  const std::string logs = folder.path() + "/logs";
  for (const std::string shown : {"all", "0", "none"}) {
    const LaunchEnd end =
        launch(logged(logs, {"-n", "3", "--console-ranks", shown, "--", probe_program(), "--print",
                             "a\\0b\\r\\xff\\nno end", "--print-error", "err\\n"}));
    CHECK(end.code == 0);
    for (const std::string rank : {"0", "1", "2"}) {
      CAPTURE(shown, rank);
      CHECK(file_text(logs + "/rank-" + rank + ".stdout") == std::string("a\0b\r\xff\nno end", 12));
      CHECK(file_text(logs + "/rank-" + rank + ".stderr") == "err\n");
      const bool on_console = end.err.find("[" + rank + "] err") != std::string::npos;
      CHECK(on_console == (shown == "all" || shown == rank));
    }
  }
}

TEST_CASE("one rank alone has both files too, and its output stays as it was") {
  const TemporaryFolder folder;
  for (const bool merged : {false, true}) {
    const LaunchEnd end = launch(logged(folder.path(), {"-n", "1", "--", probe_program(), "--print",
                                                        "out\\n", "--print-error", "err\\n"}),
                                 {.error_to_output = merged});
    CHECK(file_text(folder.path() + "/rank-0.stdout") == "out\n");
    CHECK(file_text(folder.path() + "/rank-0.stderr") == "err\n");
    if (!merged) CHECK(end.out == "out\n");
    if (!merged) CHECK(end.err == "err\n");
  }
}

TEST_CASE("what is on the console is what is in the files, less the prefixes") {
  const TemporaryFolder folder;
  const LaunchEnd end =
      launch(logged(folder.path(), {"-n", "4", "--", probe_program(), "--lines", "20000"}));
  for (const std::string rank : {"0", "1", "2", "3"}) {
    std::string shown;
    for (std::size_t at = 0; at < end.out.size();) {
      const auto next = end.out.find('\n', at) + 1;
      if (end.out.compare(at, 4, "[" + rank + "] ") == 0)
        shown += end.out.substr(at + 4, next - at - 4);
      at = next;
    }
    const bool same = shown == file_text(folder.path() + "/rank-" + rank + ".stdout");
    CHECK(same);
    CHECK(shown.size() > 1'000'000);
  }
}

TEST_CASE("files are there when a rank dies at once, and the report names them") {
  const TemporaryFolder folder;
  const std::string logs = folder.path() + "/logs", report = folder.path() + "/report.json";
  const LaunchEnd end =
      launch(logged(logs, {"-n", "2", "--console-ranks", "0", "--report", report, "--",
                           probe_program(), "--on", "1", "--print-error", "the disk is full\\n",
                           "--exit", "4", "--on", "all", "--sleep", "600"}));
  CHECK(end.code == 4);
  CHECK_THAT(end.err, ContainsSubstring("the disk is full"));
  CHECK_THAT(end.err, ContainsSubstring("  log      " + logs + "/rank-1.stderr\n"));
  CHECK(file_text(logs + "/rank-1.stderr") == "the disk is full\n");
  const json parsed = json::parse(file_text(report));
  CHECK(parsed["first_failure"]["log"]["stderr"] == logs + "/rank-1.stderr");
  CHECK(parsed["ranks"][0]["log"]["stdout"] == logs + "/rank-0.stdout");
}

TEST_CASE("a job that does not start leaves no files") {
  const TemporaryFolder folder;
  const std::string logs = folder.path() + "/logs";
  CHECK(launch(logged(logs, {"-n", "2", "--", "no-such-program"})).code == 127);
  CHECK(launch(logged(logs, {"-n", "2", "--stdin", "7", "--", "true"})).code == 2);
  CHECK(launch(logged(logs, {"-n", "2", "--dry-run", "--", "true"})).code == 0);
  CHECK_FALSE(std::filesystem::exists(logs));
}

TEST_CASE("a folder that cannot be written to is wrong usage, and nothing is started") {
  LaunchRun run(logged("/proc/logs", {"-n", "2", "--", probe_program()}));
  const LaunchEnd end = run.wait();
  CHECK(end.code == 2);
  CHECK_THAT(end.err, ContainsSubstring("--log-dir /proc/logs: cannot be made"));
  CHECK_FALSE(std::filesystem::exists(run.path("rank_0.json")));
}

TEST_CASE("a disk that is full is told once, and the console has everything") {
  const TemporaryFolder folder;
  if (::mount("muster-test", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0)
    SKIP("mounting a small file system needs root");
  const LaunchEnd end =
      launch(logged(folder.path(), {"-n", "2", "--", probe_program(), "--lines", "5000"}));
  CHECK(end.code == 0);
  const std::string told = "No space left on device";
  const auto at = end.err.find(told);
  REQUIRE(at != std::string::npos);
  CHECK(end.err.find(told, at + 1) == std::string::npos);
  for (const std::string rank : {"0", "1"})
    CHECK_THAT(end.out, ContainsSubstring("[" + rank + "] line 4999 of rank " + rank));
  ::umount2(folder.path().c_str(), MNT_DETACH);
}

TEST_CASE("a reader that sleeps makes ranks wait, and both it and the files get everything") {
  const TemporaryFolder folder;
  LaunchRun run(logged(folder.path(), {"-n", "2", "--", probe_program(), "--lines", "20000",
                                       "--touch", "OUT/written"}));
  run.wait_for_file("rank_1.json");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK_FALSE(std::filesystem::exists(run.path("written")));
  const LaunchEnd end = run.wait();
  CHECK(end.code == 0);
  CHECK(std::ranges::count(end.out, '\n') == 40000);
  for (const std::string rank : {"0", "1"}) {
    CHECK(std::ranges::count(file_text(folder.path() + "/rank-" + rank + ".stdout"), '\n') ==
          20000);
  }
}

TEST_CASE("each restart has a folder of its own") {
  const TemporaryFolder folder;
  const LaunchEnd end =
      launch(logged(folder.path(), {"-n", "1", "--max-restarts", "1", "--", "sh", "-c",
                                    "echo start $TORCHELASTIC_RESTART_COUNT; exit 3"}));
  CHECK(end.code == 3);
  CHECK(file_text(folder.path() + "/rank-0.stdout") == "start 0\n");
  CHECK(file_text(folder.path() + "/restart-1/rank-0.stdout") == "start 1\n");
  CHECK_THAT(end.err, ContainsSubstring("/restart-1/rank-0.stderr"));
}

}  // namespace
}  // namespace muster::test
