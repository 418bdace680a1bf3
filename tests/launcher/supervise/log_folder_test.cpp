#include "supervise/log_folder.hpp"

#include <muster/error.hpp>

#include "launcher/supervise/launch_run.hpp"
#include "launcher/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace muster::launcher {
namespace {

using Catch::Matchers::ContainsSubstring;
using muster::test::file_text;
using muster::test::TemporaryFolder;

Plan plan_of(int ranks, int restart_count = 0, int first = 0, int nodes = 1) {
  Plan plan;
  plan.ranks.resize(static_cast<std::size_t>(ranks));
  for (ProcessSpec& spec : plan.ranks) {
    spec.world.rank = first++;
    spec.world.node_count = nodes;
    spec.world.restart_count = restart_count;
  }
  return plan;
}

/// Makes the files and writes `text` to each stdout.
void run(const std::string& folder, const Plan& plan, const std::string& text) {
  LogFolder logs(folder, plan);
  REQUIRE(logs.exists());
  for (std::size_t i = 0; i < plan.ranks.size(); ++i)
    CHECK(logs.take(i, STDOUT_FILENO).write(text));
}

bool exists(const std::string& path) { return std::filesystem::exists(path); }

TEST_CASE("two files a rank, by its number in the whole job") {
  const TemporaryFolder folder;
  const std::string place = folder.path() + "/a/b";
  LogFolder logs(place, plan_of(2, 0, 6, 2));
  CHECK(logs.path_of(1, STDERR_FILENO) == place + "/rank-7.stderr");
  for (const char* name : {"rank-6.stdout", "rank-6.stderr", "rank-7.stdout", "rank-7.stderr"})
    CHECK(exists(place + "/" + name));
  CHECK_FALSE(LogFolder("", plan_of(2)).exists());
  CHECK(LogFolder().path_of(0, STDOUT_FILENO).empty());
}

TEST_CASE("files of earlier jobs move out of the way, with those of their restarts") {
  const TemporaryFolder folder;
  const std::string& place = folder.path();
  run(place, plan_of(3), "first");
  run(place, plan_of(3, 1), "first again");
  folder.write("notes.txt", "mine");
  run(place, plan_of(1), "second");
  run(place, plan_of(1), "third");
  CHECK(file_text(place + "/earlier-1/rank-2.stdout") == "first");
  CHECK(file_text(place + "/earlier-1/restart-1/rank-2.stdout") == "first again");
  CHECK(file_text(place + "/earlier-2/rank-0.stdout") == "second");
  CHECK(file_text(place + "/rank-0.stdout") == "third");
  CHECK_FALSE(exists(place + "/rank-2.stdout"));
  CHECK_FALSE(exists(place + "/restart-1"));
  CHECK(file_text(place + "/notes.txt") == "mine");
}

TEST_CASE("a host that shares the folder moves its own ranks' files only") {
  const TemporaryFolder folder;
  const std::string& place = folder.path();
  run(place, plan_of(2, 0, 0, 2), "host 0");
  run(place, plan_of(2, 0, 2, 2), "host 1");
  CHECK_FALSE(exists(place + "/earlier-1"));
  run(place, plan_of(2, 0, 2, 2), "host 1 again");
  CHECK(file_text(place + "/rank-0.stdout") == "host 0");
  CHECK(file_text(place + "/rank-2.stdout") == "host 1 again");
  CHECK(file_text(place + "/earlier-1/rank-2.stdout") == "host 1");
}

TEST_CASE("a folder that cannot be is refused, and nothing in it is touched") {
  const TemporaryFolder folder;
  folder.write("file", "x");
  CHECK_THROWS_AS(LogFolder(folder.path() + "/file", plan_of(1)), ConfigError);
  CHECK_THROWS_AS(LogFolder(folder.path() + "/file/below", plan_of(1)), ConfigError);
  CHECK_THROWS_WITH(LogFolder("/proc/logs", plan_of(1)), ContainsSubstring("--log-dir /proc/logs"));
}

TEST_CASE("a restarted job goes on without files") {
  const LogFolder logs("/proc/logs", plan_of(2, 1));
  CHECK_FALSE(logs.exists());
  CHECK_THAT(logs.fault(), ContainsSubstring("/proc/logs"));
}

TEST_CASE("a full disk ends a file, which is said once") {
  LogFile full(UniqueFd(::open("/dev/full", O_WRONLY)), "/dev/full");
  CHECK_FALSE(full.write("x"));
  CHECK(full.error() == ENOSPC);
  CHECK(full.write("x"));
  CHECK(LogFile().write("x"));
}

}  // namespace
}  // namespace muster::launcher
