#include "tracking/html_tracker.hpp"

#include "support.hpp"
#include "tracking/report_page.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <support/paths.hpp>

#include <cmath>
#include <cstdlib>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using tracking::HtmlTracker;

/// What a reader of its own finds in the page, which it checks.
std::string shown(const TemporaryFolder& folder) {
  if (std::system("command -v python3 >/dev/null") != 0) SKIP("there is no python3");
  return output_of("python3 '" + std::string(source_dir) +
                   "/tests/runtime/tracking/read_report.py' '" + (folder / "report.html").string() +
                   "' 2>&1");
}

tracking::Report report_in(const TemporaryFolder& folder) {
  const auto page = bytes_of(folder / "report.html");
  const auto json = tracking::report_in_page(page);
  REQUIRE(json);
  return tracking::report_from_json(*json);
}

std::int64_t values(const tracking::Report& report, const std::string& name) {
  tracking::Bucket all;
  for (const auto& series : report.series) {
    if (series.name() != name) continue;
    for (const auto& bucket : series.buckets()) all.add(bucket);
  }
  return all.values();
}

}  // namespace

TEST_CASE("The report is one whole page with a picture a curve, losses first") {
  const TemporaryFolder folder;
  auto tracker = started<HtmlTracker>(folder.path(), {{"lr", 1e-3}, {"model", "a<b>&\"c\""}});
  for (std::int64_t step = 1; step <= 3000; ++step) {
    const auto at = static_cast<double>(step);
    tracker.log(record(step, {{"system/memory_mib", 100},
                              {"learning_rate", 1e-3 / at},
                              {"accuracy", 1 - 1 / at},
                              {"train/loss", 1 / at}}));
  }
  tracker.log(record(3001, {{"sample", "</script><b>to be"}, {"once", 3}}));
  tracker.finish();
  const auto text = shown(folder);
  CHECK_THAT(text, ContainsSubstring("picture train/loss ['area', 'axis', 'grid', 'mean']\n"
                                     "picture accuracy ['area', 'axis', 'grid', 'mean']\n"
                                     "picture once ['axis', 'grid', 'point']\n"
                                     "picture learning_rate ['area', 'axis', 'grid', 'mean']\n"
                                     "picture system/memory_mib ['axis', 'grid', 'mean']\n"));
  CHECK_THAT(text, ContainsSubstring("h1 'digits'\n"));
  CHECK_THAT(text, ContainsSubstring("p 'step 3001 · ended "));
  CHECK_THAT(text, ContainsSubstring("p 'last 0.0003333 · least 0.0003333 · most 1'\n"));
  CHECK_THAT(text, ContainsSubstring("td 'a<b>&\"c\"'\n"));
  CHECK_THAT(text, ContainsSubstring("td '</script><b>to be'\n"));
  CHECK(folder.files() == 1);
}

TEST_CASE("Values that are not finite are told and leave a gap") {
  const TemporaryFolder folder;
  auto tracker = started<HtmlTracker>(folder.path());
  for (std::int64_t step = 1; step <= 9; ++step) {
    tracker.log(record(
        step, {{"loss", step > 3 && step < 7 ? std::nan("") : 1.0}, {"never", std::nan("")}}));
  }
  tracker.finish();
  const auto text = shown(folder);
  CHECK_THAT(text, ContainsSubstring("picture loss ['axis', 'gap', 'grid', 'mean']\n"
                                     "picture never ['axis', 'gap', 'grid']\n"));
  CHECK_THAT(text, ContainsSubstring("span '3 not finite, from step 4'\n"));
  CHECK_THAT(text, ContainsSubstring("p 'last nan · '\nspan '9 not finite, from step 1'\n"));
}

TEST_CASE("A report goes on from the one that is there, without its dead end") {
  const TemporaryFolder folder;
  {
    auto killed = started<HtmlTracker>(folder.path(), {{"lr", 1}});
    for (std::int64_t step = 1; step <= 10; ++step) {
      killed.log(record(step, {{"loss", 1}, {"note", "n" + std::to_string(step)}}));
    }
    killed.finish();
  }
  auto resumed = started<HtmlTracker>(folder.path(), {{"lr", 2}});
  CHECK(values(report_in(folder), "loss") == 10);
  resumed.log(record(8, {{"loss", 5}}));
  resumed.finish();
  const auto report = report_in(folder);
  CHECK(values(report, "loss") == 8);
  CHECK(report.series.front().newest() == 5);
  CHECK(report.texts.back().text == "n7");
  CHECK(report.config.front().value == TrackedValue(2));
}

TEST_CASE("A page that is no report is left alone") {
  const TemporaryFolder folder;
  const std::string begin = "<script type=\"application/json\" id=\"muster-report\">";
  for (const auto& text : {std::string("<p>My results"), begin + "{</script>", begin + "{}"}) {
    write_bytes(folder / "report.html", text);
    CHECK_THROWS_MATCHES(
        started<HtmlTracker>(folder.path()), TrackerError,
        Catch::Matchers::MessageMatches(ContainsSubstring("report.html' is not what")));
    CHECK(bytes_of(folder / "report.html") == text);
  }
}

}  // namespace muster::test
