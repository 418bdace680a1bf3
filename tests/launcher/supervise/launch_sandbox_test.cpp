// Where a kernel or a sandbox denies its newer calls.

#include "launcher/supervise/launch_run.hpp"
#include "supervise/process_table.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;

LaunchRun::Options sandbox(int error, const std::string& kind = "--in-sandbox") {
  LaunchRun::Options options;
  options.wrapper = {probe_program(), kind, std::to_string(error)};
  return options;
}

/// Two ranks, each with a worker in another session and a daemon.
std::vector<std::string> family() {
  return {"-n",  "2",           "--",  probe_program(), "--far-worker",
          "600", "--daemonize", "600", "--sleep",       "600"};
}

TEST_CASE("everything works without pidfds, close_range and memfd_create") {
  const int error = GENERATE(ENOSYS, EPERM);
  SECTION("a job that ends well") {
    LaunchRun run({"-n", "2", "--", probe_program(), "--print", "hello\\n"}, sandbox(error));
    const LaunchEnd end = run.wait();
    CHECK(end.code == 0);
    CHECK(end.err.empty());
    CHECK_THAT(end.out, ContainsSubstring("[1] hello"));
    const auto rank = nlohmann::json::parse(file_text(run.path("rank_1.json")));
    for (const auto& [number, target] : rank["fds"].items()) CHECK(std::stoi(number) <= 4);
  }
  SECTION("a rank that fails") {
    LaunchRun run({"-n", "3", "--", probe_program(), "--exit-on", "1:7", "--far-worker", "600",
                   "--daemonize", "600", "--sleep", "600"},
                  sandbox(error));
    const LaunchEnd end = run.wait();
    CHECK(end.code == 7);
    CHECK_THAT(end.err, ContainsSubstring("rank 1"));
    CHECK(run.survivors().empty());
  }
  SECTION("a launcher that is killed") {
    LaunchRun run({"-n", "2", "--", probe_program(), "--far-worker", "600", "--daemonize", "600",
                   "--sleep", "600"},
                  sandbox(error));
    run.wait_for_file("daemon_0");
    run.wait_for_file("daemon_1");
    run.send(SIGKILL);
    run.wait();
    CHECK(run.survivors_after_a_second().empty());
  }
}

TEST_CASE("ranks start where a child cannot run in its parent's memory") {
  const int error = GENERATE(ENOSYS, EPERM, EINVAL);
  LaunchRun run({"-n", "2", "--", probe_program(), "--exit-on", "1:7"},
                sandbox(error, "--in-copying-sandbox"));
  const LaunchEnd end = run.wait();
  CHECK(end.code == 7);
  CHECK_THAT(end.err, ContainsSubstring("rank 1 failed first: exit 7"));
}

TEST_CASE("ranks that may not be bound run, with one warning for all") {
  const int error = GENERATE(ENOSYS, EPERM);
  LaunchRun run({"-n", "2", "--devices", "cpu", "--bind", "core", "--", probe_program()},
                sandbox(error));
  const LaunchEnd end = run.wait();
  CHECK(end.code == 0);
  CHECK(end.err == "muster: ranks are not bound to their CPUs: " + std::string(strerror(error)) +
                       " (denied by a sandbox?); they run anyway\n");
}

TEST_CASE("without subreapers too nothing survives, and nothing else is touched") {
  const int error = GENERATE(ENOSYS, EPERM);
  const LaunchRun bystander(family());
  bystander.wait_for_file("daemon_0");
  bystander.wait_for_file("daemon_1");
  SECTION("a job that ends well and leaves daemons") {
    LaunchRun run({"-n", "2", "--", probe_program(), "--daemonize", "600"},
                  sandbox(error, "--in-narrow-sandbox"));
    CHECK(run.wait().code == 0);
    CHECK(run.survivors().empty());
  }
  SECTION("a job that is ended") {
    LaunchRun run(family(), sandbox(error, "--in-narrow-sandbox"));
    run.wait_for_file("daemon_0");
    run.wait_for_file("daemon_1");
    run.send(SIGTERM);
    CHECK(run.wait().code == 143);
    CHECK(run.survivors().empty());
  }
  SECTION("a launcher or a guardian that is killed") {
    for (const bool guardian : {false, true}) {
      LaunchRun run(family(), sandbox(error, "--in-narrow-sandbox"));
      run.wait_for_file("daemon_0");
      run.wait_for_file("daemon_1");
      ::kill(guardian ? launcher::children_of(run.pid()).at(0) : run.pid(), SIGKILL);
      CHECK(run.wait().code == (guardian ? 125 : 137));
      CHECK(run.survivors_after_a_second().empty());
    }
  }
  CHECK(bystander.survivors().size() >= 7);
}

}  // namespace
}  // namespace muster::test
