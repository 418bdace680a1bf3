#include "strategies/window_report.hpp"

#include <ATen/ATen.h>
#include <catch2/catch_test_macros.hpp>

using namespace muster;

namespace {

/// The sum over ranks of reports that differ in their steps.
WindowReport sum_of(const std::vector<std::uint64_t>& steps, at::ScalarType dtype) {
  auto tail = at::zeros({WindowReport::numel(2, 3)}, dtype);
  for (const auto step : steps) {
    WindowReport report(2, 3);
    report.left = step == 0 ? 1 : 0;
    report.steps.set(step);
    report.weights[0].set(4);
    report.weights[1].set(123'456'789);
    report.plain = 1;
    report.used = {1, 0, 1};
    report.late = {0, 0, 1};
    const auto own = at::zeros_like(tail);
    report.write(own);
    tail += own;
  }
  WindowReport sum(2, 3);
  sum.read(tail);
  return sum;
}

}  // namespace

TEST_CASE("a report read back from the sum of the ranks' tails", "[strategies]") {
  for (const auto dtype : {at::kFloat, at::kDouble}) {
    const auto sum = sum_of({7, 7, 0}, dtype);
    CHECK(sum.left == 1);
    CHECK(sum.plain == 3);
    CHECK(sum.weighed == 0);
    CHECK(sum.weights[0].value() == 12);
    CHECK(sum.weights[1].value() == 370'370'367);  // Not a float.
    CHECK((sum.used == std::vector<double>{3, 0, 3}));
    CHECK((sum.late == std::vector<double>{0, 0, 3}));
  }
}

TEST_CASE("steps agree exactly if all ranks have made as many", "[strategies]") {
  CHECK(sum_of({5}, at::kFloat).steps.holds(1));
  CHECK(sum_of({1000, 1000, 1000}, at::kFloat).steps.holds(3));
  CHECK_FALSE(sum_of({1000, 1001, 1000}, at::kFloat).steps.holds(3));
  // Differences that cancel in the sum.
  CHECK_FALSE(sum_of({9, 10, 11}, at::kFloat).steps.holds(3));
  const std::vector<std::uint64_t> many(4096, 60);
  CHECK(sum_of(many, at::kFloat).steps.holds(4096));
  auto one_off = many;
  one_off[17] = 59;
  CHECK_FALSE(sum_of(one_off, at::kFloat).steps.holds(4096));
}

TEST_CASE("ranks with gradients agree on the scale of their loss, the others take it over",
          "[strategies]") {
  const auto sum = [](const std::vector<double>& scales) {
    auto tail = at::zeros({WindowReport::numel(1, 1)}, at::kFloat);
    for (const double scale : scales) {
      WindowReport report(1, 1);
      if (scale != 0) report.set_scale(scale);
      const auto own = at::zeros_like(tail);
      report.write(own);
      tail += own;
    }
    WindowReport result(1, 1);
    result.read(tail);
    return result;
  };
  CHECK(sum({0, 0}).one_scale());
  CHECK(sum({0, 0}).common_scale() == 1);
  CHECK(sum({65536, 0, 65536, 65536}).one_scale());
  CHECK(sum({65536, 0, 65536, 65536}).common_scale() == 65536);
  CHECK(sum({0x1p100, 0x1p100}).common_scale() == 0x1p100);
  CHECK_FALSE(sum({65536, 32768}).one_scale());
  CHECK_FALSE(sum({65536, 0, 1}).one_scale());
}
