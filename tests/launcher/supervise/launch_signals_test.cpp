// What signals to the launcher do to the job.

#include "launcher/supervise/launch_run.hpp"
#include "supervise/process_table.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using std::chrono::milliseconds;

/// Two ranks, `options` for the launcher, and steps of the probe.
std::vector<std::string> pair(std::vector<std::string> options, std::vector<std::string> steps) {
  std::vector<std::string> words{"-n", "2"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", probe_program()});
  words.insert(words.end(), steps.begin(), steps.end());
  return words;
}

void wait_for_both(LaunchRun& run, const std::string& name) {
  run.wait_for_file(name + "_0");
  run.wait_for_file(name + "_1");
}

void wait_until(const std::function<bool()>& condition) {
  for (int i = 0; i < 4000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(10));
  REQUIRE(condition());
}

char state_of(int pid) {
  const std::string text = file_text("/proc/" + std::to_string(pid) + "/stat");
  return text.empty() ? '-' : text[text.rfind(')') + 2];
}

int pid_of(const LaunchRun& run, int rank) {
  return nlohmann::json::parse(
      file_text(run.path("rank_" + std::to_string(rank) + ".json")))["pid"];
}

TEST_CASE("a signal that ends the job reaches each rank once") {
  for (const auto& [signal, name] : std::vector<std::pair<int, std::string>>{
           {SIGTERM, "TERM"}, {SIGINT, "INT"}, {SIGHUP, "HUP"}}) {
    // Counting means surviving: the grace period ends them.
    LaunchRun run(pair({"--grace", "0.5"}, {"--count-signals", "--sleep", "600"}));
    wait_for_both(run, "counting");
    run.send(signal);
    const LaunchEnd end = run.wait();
    CHECK(end.code == 128 + signal);
    CHECK(file_text(run.path("signals_0")) == name + "\n");
    CHECK(file_text(run.path("signals_1")) == name + "\n");
    CHECK(run.survivors().empty());
  }
}

TEST_CASE("ranks have the grace period to save their work, and no more") {
  const auto run_with = [](const std::string& grace, bool saved) {
    LaunchRun run(pair({"--grace", grace}, {"--slow-term", "1", "--sleep", "600"}));
    wait_for_both(run, "trapping");
    run.send(SIGTERM);
    CHECK(run.wait().code == 143);
    CHECK(std::filesystem::exists(run.path("saved_0")) == saved);
    CHECK(run.survivors().empty());
  };
  run_with("30", true);
  run_with("0.2", false);
}

TEST_CASE("the grace period is the same when a rank fails") {
  LaunchRun run(pair({"--grace", "0.5"}, {"--on", "0", "--ignore-term", "--sleep", "600", "--on",
                                          "1", "--wait-for", "OUT/rank_0.json", "--exit", "7"}));
  const auto start = std::chrono::steady_clock::now();
  CHECK(run.wait().code == 7);
  CHECK(std::chrono::steady_clock::now() - start >= milliseconds(450));
  CHECK(run.survivors().empty());
}

TEST_CASE("a second interrupt kills at once") {
  LaunchRun run(pair({"--grace", "600"}, {"--count-signals", "--sleep", "600"}));
  wait_for_both(run, "counting");
  run.send(SIGINT);
  wait_for_both(run, "signals");
  std::this_thread::sleep_for(milliseconds(300));
  run.send(SIGINT);
  run.send(SIGINT);
  CHECK(run.wait().code == 130);
  CHECK(run.survivors().empty());
}

TEST_CASE("user signals reach the ranks, and the job goes on") {
  LaunchRun run(pair({}, {"--count-signals", "--wait-for", "OUT/done"}));
  wait_for_both(run, "counting");
  run.send(SIGUSR1);
  wait_until([&] {
    return file_text(run.path("signals_0")) == "USR1\n" &&
           file_text(run.path("signals_1")) == "USR1\n";
  });
  for (const auto& [signal, all] : std::vector<std::pair<int, std::string>>{
           {SIGUSR2, "USR1\nUSR2\n"}, {SIGUSR1, "USR1\nUSR2\nUSR1\n"}}) {
    run.send(signal);
    wait_until([&] {
      return file_text(run.path("signals_0")) == all && file_text(run.path("signals_1")) == all;
    });
  }
  std::ofstream(run.path("done")).flush();
  CHECK(run.wait().code == 0);
}

TEST_CASE("a stopped launcher stops its ranks, and both go on together") {
  LaunchRun run(pair({}, {"--wait-for", "OUT/done"}));
  run.wait_for_file("rank_0.json");
  run.wait_for_file("rank_1.json");
  run.send(SIGTSTP);
  wait_until([&] {
    return state_of(run.pid()) == 'T' && state_of(pid_of(run, 0)) == 'T' &&
           state_of(pid_of(run, 1)) == 'T';
  });
  run.send(SIGCONT);
  wait_until([&] { return state_of(pid_of(run, 0)) != 'T' && state_of(pid_of(run, 1)) != 'T'; });
  std::ofstream(run.path("done")).flush();
  CHECK(run.wait().code == 0);
}

TEST_CASE("stopped ranks can be ended") {
  LaunchRun run(pair({"--grace", "600"}, {"--stop"}));
  run.wait_for_file("rank_0.json");
  run.wait_for_file("rank_1.json");
  wait_until([&] { return state_of(pid_of(run, 0)) == 'T' && state_of(pid_of(run, 1)) == 'T'; });
  run.send(SIGTERM);
  CHECK(run.wait().code == 143);
  CHECK(run.survivors().empty());
}

TEST_CASE("signals that were ignored stay ignored") {
  LaunchRun run(pair({}, {"--wait-for", "OUT/done"}), {.ignored = {SIGHUP, SIGINT}});
  run.wait_for_file("rank_0.json");
  run.send(SIGHUP);
  run.send(SIGINT);
  const auto rank = nlohmann::json::parse(file_text(run.path("rank_0.json")));
  const auto ignored = std::stoull(rank["ignored"].get<std::string>(), nullptr, 16);
  CHECK(ignored == ((1ULL << (SIGHUP - 1)) | (1ULL << (SIGINT - 1))));
  std::this_thread::sleep_for(milliseconds(100));
  std::ofstream(run.path("done")).flush();
  CHECK(run.wait().code == 0);
}

TEST_CASE("a signal that was blocked when it started is obeyed") {
  LaunchRun run(pair({}, {"--sleep", "600"}), {.blocked = {SIGTERM, SIGUSR1, SIGCHLD}});
  run.wait_for_file("rank_0.json");
  const auto rank = nlohmann::json::parse(file_text(run.path("rank_0.json")));
  CHECK(std::stoull(rank["blocked"].get<std::string>(), nullptr, 16) == 0);
  run.send(SIGTERM);
  CHECK(run.wait().code == 143);
}

TEST_CASE("children that end are seen though SIGCHLD was ignored") {
  LaunchRun run(pair({}, {"--on", "1", "--exit", "7", "--on", "0", "--sleep", "600"}),
                {.ignored = {SIGCHLD}});
  CHECK(run.wait().code == 7);
}

TEST_CASE("a signal that reached the ranks first is still the user's") {
  LaunchRun run(pair({}, {"--sleep", "600"}));
  run.wait_for_file("rank_0.json");
  run.wait_for_file("rank_1.json");
  ::kill(pid_of(run, 0), SIGTERM);
  ::kill(pid_of(run, 1), SIGTERM);
  run.send(SIGTERM);
  const LaunchEnd end = run.wait();
  CHECK(end.code == 143);
  CHECK_THAT(end.err, !ContainsSubstring("failed"));
}

}  // namespace
}  // namespace muster::test
