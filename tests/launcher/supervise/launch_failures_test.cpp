// What is said of a rank that failed.

#include "launcher/sanitized.hpp"
#include "launcher/supervise/launch_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

std::vector<std::string> probes(int ranks, std::vector<std::string> steps) {
  std::vector<std::string> words{"-n", std::to_string(ranks), "--", probe_program()};
  words.insert(words.end(), steps.begin(), steps.end());
  return words;
}

std::vector<std::string> shells(int ranks, const std::string& script) {
  return {"-n", std::to_string(ranks), "--report", "/dev/stdout", "--", "sh", "-c", script};
}

/// The report, which followed what ranks printed.
json report_in(const std::string& out) { return json::parse(out.substr(out.find("{\n"))); }

TEST_CASE("a rank that somebody else kills is told apart from one that crashes") {
  for (const int signal : {SIGKILL, SIGTERM}) {
    const LaunchEnd end = launch(
        probes(2, {"--on", "1", "--raise", std::to_string(signal), "--on", "0", "--sleep", "600"}));
    CHECK(end.code == 128 + signal);
    CHECK_THAT(end.err, ContainsSubstring("rank 1 was killed from outside: SIG"));
  }
}

TEST_CASE("a rank that left early is named when the others missed it") {
  std::vector<std::string> words =
      probes(2, {"--on", "0", "--wait-exiting", "1", "--sleep", "0.5", "--print-error",
                 "RuntimeError: Timed out waiting 300ms\\n", "--exit", "5"});
  words.insert(words.begin(), {"--report", "/dev/stdout"});
  const LaunchEnd end = launch(words);
  CHECK(end.code == 5);
  CHECK_THAT(end.err, ContainsSubstring("rank 1 left early (exit 0), then rank 0 failed: exit 5"));
  const json report = report_in(end.out);
  CHECK(report["ranks"][1]["end"] == "left_early");
  CHECK(report["consequences"].empty());
}

TEST_CASE("a rank that ends well is not blamed for a failure of another's own") {
  const LaunchEnd end = launch(shells(2, "[ $RANK = 1 ] && exit 0; sleep 0.3; exit 5"));
  CHECK(end.code == 5);
  CHECK_THAT(end.err, ContainsSubstring("rank 0 failed first: exit 5"));
}

TEST_CASE("torchelastic's error file has the message and the call stack") {
  const std::string file = R"({"message": {"message": "ValueError: label 11", "extraInfo":)"
                           R"( {"py_callstack": "Traceback (x):\n  File a.py, line 7", )"
                           R"("timestamp": "1"}}})";
  const LaunchEnd end =
      launch(shells(3, "[ $RANK = 1 ] || exec sleep 600; cat > $TORCHELASTIC_ERROR_FILE <<'E'\n" +
                           file + "\nE\nexit 6"));
  CHECK(end.code == 6);
  CHECK_THAT(end.err, ContainsSubstring("  error    ValueError: label 11\n"));
  CHECK_THAT(end.err, ContainsSubstring("  stack    Traceback (x):\n             File a.py"));
  const json first = report_in(end.out)["first_failure"];
  CHECK(first["error"] == "ValueError: label 11");
  CHECK(first["call_stack"] == "Traceback (x):\n  File a.py, line 7");
}

TEST_CASE("an error file is written before its rank is gone: it is blamed for what follows") {
  // It is on its way out and does not listen.
  const std::string script =
      "trap '' TERM; case $RANK in "
      "2) echo '{\"message\": \"first\"}' > $TORCHELASTIC_ERROR_FILE; : > $OUT/said; "
      "sleep 0.5; exit 6;; "
      "0) until [ -e $OUT/said ]; do sleep 0.01; done; exit 9;; "
      "*) exec sleep 600; esac";
  CHECK(launch({"-n", "3", "--grace", "2", "--", "sh", "-c", script}).code == 6);
}

TEST_CASE("rubbish in an error file is harmless") {
  for (const std::string text : {"{", "[]", "{\"message\": {}}", "\\377\\000"}) {
    const LaunchEnd end = launch(shells(2, "[ $RANK = 1 ] || exec sleep 600; printf '" + text +
                                               "' > $TORCHELASTIC_ERROR_FILE; "
                                               "exit 6"));
    CHECK(end.code == 6);
    CHECK_THAT(end.err, ContainsSubstring("rank 1 failed first: exit 6"));
  }
}

TEST_CASE("a silent stderr: the last lines of stdout are told") {
  const LaunchEnd end =
      launch({"-n", "2", "--console-ranks", "none", "--", probe_program(), "--on", "1", "--print",
              "loss is nan\\n", "--exit", "3", "--on", "0", "--sleep", "600"});
  CHECK(end.code == 3);
  CHECK(end.out.empty());
  CHECK_THAT(end.err, ContainsSubstring("  output   loss is nan\n"));
}

TEST_CASE("a core dump is told, and where it is") {
  const LaunchEnd end = launch(shells(
      2, "cd $OUT; ulimit -c unlimited || exit 77; [ $RANK = 1 ] && kill -SEGV $$; sleep 600"));
  if (end.code == 77) SKIP("core dumps are not allowed here");
  CHECK(end.code == 139);
  const json first = report_in(end.out)["first_failure"];
  if (first["core_dumped"] == false) SKIP("this host writes no core dumps");
  CHECK_THAT(end.err, ContainsSubstring("SIGSEGV (exit 139, core dumped)"));
  CHECK_THAT(end.err, ContainsSubstring("  core     "));
  CHECK_FALSE(first["core"].get<std::string>().empty());
}

TEST_CASE("without a core dump that is said") {
  const LaunchEnd end = launch(probes(2, {"--no-core", "--on", "1", "--raise",
                                          std::to_string(SIGSEGV), "--on", "0", "--sleep", "600"}));
  CHECK_THAT(end.err, ContainsSubstring("rank 1 failed first: SIGSEGV (exit 139, no core dump)"));
}

/// A control group of version 1 or 2 with a limit, for as long as the test takes.
class SmallGroup {
 public:
  SmallGroup() {
    for (const std::string root : {"/sys/fs/cgroup/memory", "/sys/fs/cgroup"}) {
      path_ = root + "/muster-test-" + std::to_string(::getpid());
      if (::mkdir(path_.c_str(), 0755) != 0) continue;
      for (const char* name : {"/memory.limit_in_bytes", "/memory.max"}) {
        if (::access((path_ + name).c_str(), W_OK) != 0) continue;
        std::ofstream(path_ + name) << (100 << 20U);
        usable_ = true;
        return;
      }
      ::rmdir(path_.c_str());
    }
  }
  SmallGroup(const SmallGroup&) = delete;
  SmallGroup& operator=(const SmallGroup&) = delete;
  ~SmallGroup() { ::rmdir(path_.c_str()); }

  bool usable() const { return usable_; }
  /// A launcher, and all that it starts, is in it.
  std::vector<std::string> wrapper() const {
    return {"sh", "-c", "echo $$ > " + path_ + "/cgroup.procs && exec \"$@\"", "sh"};
  }

 private:
  std::string path_;
  bool usable_ = false;
};

TEST_CASE("out of memory is proven by the kernel's own count") {
  const SmallGroup group;
  if (sanitized) SKIP("a sanitizer needs more than the group may have");
  if (!group.usable()) SKIP("a control group with a limit needs root and a writable hierarchy");
  std::vector<std::string> words =
      probes(2, {"--on", "1", "--fill", "300", "--on", "0", "--sleep", "600"});
  words.insert(words.begin(), {"--report", "/dev/stdout"});
  const LaunchEnd end = launch(words, {.wrapper = group.wrapper()});
  CHECK(end.code == 137);
  CHECK_THAT(end.err, ContainsSubstring("rank 1 was killed: out of memory, SIGKILL (exit 137)"));
  CHECK_THAT(end.err, ContainsSubstring("the control group allows 100 MiB and the job used"));
  const json report = report_in(end.out);
  CHECK(report["first_failure"]["end"] == "out_of_memory");
  CHECK(report["memory"]["limit"] == 100 << 20U);
  CHECK(report["memory"]["killed"].get<int>() >= 1);
  CHECK(report["memory"]["counted"] == "control_group");
}

TEST_CASE("the report is whole after a signal too") {
  LaunchRun run({"-n", "2", "--report", "/dev/stdout", "--", probe_program(), "--sleep", "600"});
  run.wait_for_file("rank_1.json");
  run.send(SIGTERM);
  const LaunchEnd end = run.wait();
  CHECK(end.code == 143);
  const json report = report_in(end.out);
  CHECK(report["outcome"] == "interrupted");
  CHECK(report["signal"] == "SIGTERM");
  CHECK(report["started"].get<std::string>() <= report["ended"].get<std::string>());
  CHECK(report["ranks"][1]["end"] == "stopped_by_muster");
}

/// One failure of each kind, and another rank that fails 30 ms after it.
void blame_runs(int runs) {
  const std::vector<std::vector<std::string>> kinds{
      {"--exit", "7"},
      {"--no-core", "--throw", "label 11"},
      {"--no-core", "--raise", std::to_string(SIGSEGV)},
      {"--print-error", "Error: no label\\n", "--exit", "7"},
      {"--death", "batch 17", "--exit", "7"},
      {"--raise", std::to_string(SIGKILL)}};
  for (int i = 0; i < runs; ++i) {
    const auto& kind = kinds[static_cast<std::size_t>(i) % kinds.size()];
    std::vector<std::string> steps{"--on", "3"};
    steps.insert(steps.end(), kind.begin(), kind.end());
    for (const std::string word :
         {"--on", "0", "--wait-exiting", "3", "--sleep", "0.03", "--print-error",
          "Error: connection reset by peer\\n", "--exit", "9", "--on", "all", "--sleep", "600"})
      steps.push_back(word);
    const LaunchEnd end = launch(probes(4, steps));
    CAPTURE(i, kind.front(), end.err);
    REQUIRE_THAT(end.err, ContainsSubstring("muster: rank 3 "));
    REQUIRE(end.code != 9);
  }
}

TEST_CASE("who failed first is right though another one fails 30 ms later") { blame_runs(6); }

TEST_CASE("who failed first is right in 100 of 100", "[.]") { blame_runs(100); }

}  // namespace
}  // namespace muster::test
