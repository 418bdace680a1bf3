#include "tracking/series.hpp"

#include "tracking/axis.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <limits>

namespace muster::tracking {

TEST_CASE("A curve of any length stays small, and loses no extreme and no value") {
  Series series("loss");
  constexpr std::int64_t steps = 100'000;
  for (std::int64_t step = 1; step <= steps; ++step) {
    series.add(step, step == 77'777 ? 50.0 : static_cast<double>(step % 2));
  }
  CHECK(series.buckets().size() <= Series::most_buckets);
  CHECK(series.buckets().size() > Series::most_buckets / 2);
  Bucket all;
  std::int64_t next = 1;
  for (const auto& bucket : series.buckets()) {
    CHECK(bucket.first == next);
    next = bucket.last + 1;
    all.add(bucket);
  }
  CHECK(next == steps + 1);
  CHECK(all.count == steps);
  CHECK(all.most == 50);
  CHECK(all.least == 0);
  CHECK(all.mean == Catch::Approx(0.5).margin(0.001));
  CHECK(series.coarse(100).size() <= 100);
}

TEST_CASE("A curve goes on from a step that it had already") {
  Series series("loss");
  for (std::int64_t step = 1; step <= 10; ++step) series.add(step, 1);
  series.add(6, 2);
  REQUIRE(series.buckets().size() == 6);
  CHECK(series.buckets().back().first == 6);
  CHECK(series.buckets().back().mean == 2);
  series.add(6, 3);
  CHECK(series.buckets().size() == 7);
}

TEST_CASE("Values that are not finite are counted and spoil nothing") {
  Series series("loss");
  series.add(1, std::nan(""));
  series.add(2, std::numeric_limits<double>::infinity());
  series.add(3, 7);
  Bucket all;
  for (const auto& bucket : series.buckets()) all.add(bucket);
  CHECK(all.count == 1);
  CHECK(all.not_finite == 2);
  CHECK(all.first_not_finite == 1);
  CHECK(all.mean == 7);
  CHECK(all.least == 7);
}

TEST_CASE("A curve that was stored goes on as before") {
  Series one("loss");
  for (std::int64_t step = 0; step < 3000; ++step) one.add(step, static_cast<double>(step));
  Series other("loss", one.buckets(), one.newest());
  for (std::int64_t step = 3000; step < 9000; ++step) {
    one.add(step, static_cast<double>(step));
    other.add(step, static_cast<double>(step));
  }
  REQUIRE(one.buckets().size() == other.buckets().size());
  CHECK(one.buckets().back().mean == other.buckets().back().mean);
}

TEST_CASE("An axis has round marks that differ, and room for every value") {
  const auto texts = [](const Axis& axis) {
    std::string all;
    for (const auto& mark : axis.marks) all += mark.text + ' ';
    return all;
  };
  CHECK(texts(value_axis(0, 1)) == "0 0.2 0.4 0.6 0.8 1 ");
  CHECK(texts(value_axis(3, 3)) == "2.7 2.8 2.9 3 3.1 3.2 3.3 ");
  CHECK(texts(step_axis(1, 1)) == "1 2 ");
  CHECK(texts(step_axis(0, 1'000'000)) == "0 200 k 400 k 600 k 800 k 1 M ");
  const double largest = std::numeric_limits<double>::max();
  for (const auto& [least, most] : std::vector<std::pair<double, double>>{{0, 0},
                                                                          {-1, 1},
                                                                          {1e-300, 2e-300},
                                                                          {-largest, largest},
                                                                          {123456.1, 123456.2},
                                                                          {1, std::nextafter(1, 2)},
                                                                          {largest, largest}}) {
    const auto axis = value_axis(least, most);
    CAPTURE(least, most, axis.low, axis.high);
    CHECK(axis.marks.size() >= 2);
    CHECK(axis.marks.size() <= 16);
    CHECK(axis.place(std::max(least, -1e300)) >= 0);
    CHECK(axis.place(std::min(most, 1e300)) <= 1);
    for (std::size_t at = 1; at < axis.marks.size(); ++at) {
      CHECK(axis.marks[at].text != axis.marks[at - 1].text);
    }
  }
}

}  // namespace muster::tracking
