#include "tracking/jsonl_tracker.hpp"

#include "support.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>
#include <limits>
#include <sys/wait.h>
#include <unistd.h>

namespace muster::test {
namespace {

using tracking::JsonlTracker;

std::vector<nlohmann::json> lines(const std::filesystem::path& path) {
  std::vector<nlohmann::json> result;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) result.push_back(nlohmann::json::parse(line));
  return result;
}

}  // namespace

TEST_CASE("A line of JSON a record, with the kinds of the values") {
  const TemporaryFolder folder;
  auto tracker = started<JsonlTracker>(folder.path());
  const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  tracker.log(record(3, {{"loss", 0.1}, {"epoch", 2}, {"best", true}, {"note", "a \"b\"\nc"}}));
  tracker.log(record(4, {{"float", 0.5F}, {"huge", huge}, {"size", std::size_t{7}}}));
  CHECK(bytes_of(folder / "metrics.jsonl") ==
        "{\"step\":3,\"time\":1003.5,\"loss\":0.1,\"epoch\":2,\"best\":true,"
        "\"note\":\"a \\\"b\\\"\\nc\"}\n"
        "{\"step\":4,\"time\":1004.5,\"float\":0.5,\"huge\":18446744073709551616,\"size\":7}\n");
}

TEST_CASE("JSON has no NaN, so numbers that are none are texts, and all lines are JSON") {
  const TemporaryFolder folder;
  auto tracker = started<JsonlTracker>(folder.path());
  constexpr double infinity = std::numeric_limits<double>::infinity();
  tracker.log(record(1, {{"a", std::nan("")}, {"b", infinity}, {"c", -infinity}}));
  tracker.log(record(2, {{"bad utf-8 \xff", "\xc3("}, {"same", 1}, {"same", 2}}));
  const auto read = lines(folder / "metrics.jsonl");
  REQUIRE(read.size() == 2);
  CHECK(read[0]["a"] == "NaN");
  CHECK(read[0]["b"] == "Infinity");
  CHECK(read[0]["c"] == "-Infinity");
  CHECK(read[1]["bad utf-8 \xef\xbf\xbd"] == "\xef\xbf\xbd(");
  CHECK(read[1]["same"] == 2);
  CHECK(bytes_of(folder / "metrics.jsonl").find("\"same\":1") == std::string::npos);
}

TEST_CASE("A run goes on behind what is there, less half a line") {
  const TemporaryFolder folder;
  started<JsonlTracker>(folder.path()).log(record(1, {{"loss", 2}}));
  write_bytes(folder / "metrics.jsonl", bytes_of(folder / "metrics.jsonl") + "{\"step\":2,\"ti");
  started<JsonlTracker>(folder.path()).log(record(2, {{"loss", 1}}));
  const auto read = lines(folder / "metrics.jsonl");
  REQUIRE(read.size() == 2);
  CHECK(read[1]["step"] == 2);
  CHECK(read[1]["loss"] == 1);
}

TEST_CASE("A full disk leaves whole lines, and later ones follow when there is room") {
  const TemporaryFolder folder;
  auto tracker = started<JsonlTracker>(folder.path());
  tracker.log(record(1, {{"loss", 2}}));
  {
    // A part of the next line still fits.
    const FullDisk full(std::filesystem::file_size(folder / "metrics.jsonl") + 10);
    CHECK_THROWS_MATCHES(tracker.log(record(2, {{"loss", 1}})), TrackerError,
                         Catch::Matchers::MessageMatches(
                             Catch::Matchers::ContainsSubstring("metrics.jsonl': File too large")));
  }
  tracker.log(record(3, {{"loss", 0}}));
  const auto read = lines(folder / "metrics.jsonl");
  REQUIRE(read.size() == 2);
  CHECK(read[1]["step"] == 3);
}

TEST_CASE("A program that is killed leaves whole lines, all that it logged") {
  const TemporaryFolder folder;
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    auto tracker = started<JsonlTracker>(folder.path());
    for (std::int64_t step = 1;; ++step) {
      tracker.log(record(step, {{"loss", 0.5}}));
      if (write(ends[1], "x", 1) != 1) _exit(1);
    }
  }
  std::ptrdiff_t told = 0;
  std::string buffer(4096, '\0');
  while (told < 2000) told += std::max<ssize_t>(0, read(ends[0], buffer.data(), buffer.size()));
  kill(child, SIGKILL);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  const auto read_back = lines(folder / "metrics.jsonl");
  CHECK(std::ssize(read_back) >= told);
  CHECK(read_back.back()["step"] == read_back.size());
  close(ends[0]);
  close(ends[1]);
}

}  // namespace muster::test
