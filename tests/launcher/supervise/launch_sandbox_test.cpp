// Where a kernel or a sandbox denies its newer calls.

#include "launcher/supervise/launch_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <csignal>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;

LaunchRun::Options sandbox(int error) {
  LaunchRun::Options options;
  options.wrapper = {probe_program(), "--in-sandbox", std::to_string(error)};
  return options;
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

}  // namespace
}  // namespace muster::test
