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
    report.micro_steps = {4, 5};
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
    CHECK((sum.micro_steps == std::vector<double>{12, 15}));
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
