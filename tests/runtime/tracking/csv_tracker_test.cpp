#include "tracking/csv_tracker.hpp"

#include "support.hpp"
#include "tracking/csv_text.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <limits>

namespace muster::test {
namespace {

using tracking::CsvTracker;

}  // namespace

TEST_CASE("A row a record, and a new column where a name comes later") {
  const TemporaryFolder folder;
  auto tracker = started<CsvTracker>(folder.path());
  tracker.log(record(1, {{"loss", 0.5}, {"note", "a,b\nsaid \"c\""}}));
  tracker.log(record(2, {{"accuracy", 0.75}}));
  tracker.log(record(3, {{"accuracy", 1}, {"loss", 0.25}}));
  CHECK(bytes_of(folder / "metrics.csv") ==
        "step,time,loss,note,accuracy\n"
        "1,1001.5,0.5,\"a,b\nsaid \"\"c\"\"\",\n"
        "2,1002.5,,,0.75\n"
        "3,1003.5,0.25,,1\n");
  CHECK(folder.files() == 1);
}

TEST_CASE("A resumed table has one header, whatever columns come") {
  const TemporaryFolder folder;
  started<CsvTracker>(folder.path()).log(record(1, {{"loss", 2}, {"odd, \"name\"", 3}}));
  write_bytes(folder / "metrics.csv", bytes_of(folder / "metrics.csv") + "2,1002.5,\"half\n");
  auto tracker = started<CsvTracker>(folder.path());
  tracker.log(record(2, {{"odd, \"name\"", 4}}));
  tracker.log(record(3, {{"new", false}}));
  CHECK(bytes_of(folder / "metrics.csv") ==
        "step,time,loss,\"odd, \"\"name\"\"\",new\n"
        "1,1001.5,2,3,\n2,1002.5,,4,\n3,1003.5,,,false\n");
}

TEST_CASE("Numbers that are none are written as other programs read them") {
  const TemporaryFolder folder;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  started<CsvTracker>(folder.path())
      .log(record(1, {{"a", -std::nan("")}, {"b", infinity}, {"c", -infinity}}));
  CHECK(bytes_of(folder / "metrics.csv") == "step,time,a,b,c\n1,1001.5,nan,inf,-inf\n");
}

TEST_CASE("A file that is no table of ours is left alone") {
  const TemporaryFolder folder;
  for (const std::string text : {"name,age\nx,3\n", "one line without an end"}) {
    write_bytes(folder / "metrics.csv", text);
    CHECK_THROWS_MATCHES(started<CsvTracker>(folder.path()), TrackerError,
                         Catch::Matchers::MessageMatches(
                             Catch::Matchers::ContainsSubstring("metrics.csv' is not what")));
    CHECK(bytes_of(folder / "metrics.csv") == text);
  }
}

TEST_CASE("A full disk leaves the table as it was, also where it needs a new column") {
  const TemporaryFolder folder;
  auto tracker = started<CsvTracker>(folder.path());
  tracker.log(record(1, {{"loss", 0.5}}));
  const auto before = bytes_of(folder / "metrics.csv");
  {
    const FullDisk full(before.size() + 3);
    CHECK_THROWS_AS(tracker.log(record(2, {{"loss", 0.5}})), TrackerError);
    CHECK_THROWS_AS(tracker.log(record(2, {{"accuracy", 0.5}})), TrackerError);
  }
  CHECK(bytes_of(folder / "metrics.csv") == before);
  CHECK(folder.files() == 1);
  tracker.log(record(3, {{"accuracy", 0.5}}));
  CHECK(bytes_of(folder / "metrics.csv") ==
        "step,time,loss,accuracy\n1,1001.5,0.5,\n3,1003.5,,0.5\n");
}

TEST_CASE("Rows of CSV") {
  CHECK(tracking::csv_row({"", "", "a"}) == ",,a\n");
  CHECK(tracking::csv_row({""}) == "\n");
  CHECK(tracking::whole_rows("a,\"\n\"\nb") == 6);
  CHECK(tracking::whole_rows("a") == 0);
  CHECK(tracking::first_row("a,\"b\"\"\n\",\r\nc") == std::vector<std::string>{"a", "b\"\n", ""});
}

}  // namespace muster::test
