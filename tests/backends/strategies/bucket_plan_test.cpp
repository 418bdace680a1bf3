#include "strategies/bucket_plan.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace muster;
using c10::ScalarType;

namespace {

ParameterShape shape(std::int64_t numel, ScalarType dtype = ScalarType::Float) {
  return {numel, dtype, c10::kCPU};
}

std::vector<std::vector<std::size_t>> parameters_by_bucket(const Plan& plan) {
  std::vector<std::vector<std::size_t>> result;
  for (const auto& bucket : plan.buckets) {
    auto& list = result.emplace_back();
    for (std::size_t slot = bucket.first; slot < bucket.last; ++slot) {
      list.push_back(plan.slots[slot].parameter);
    }
  }
  return result;
}

}  // namespace

TEST_CASE("buckets are filled from the last parameter and closed once they reach the limit") {
  // 40 bytes each; the first limit is met by two, later ones by three.
  const std::vector<ParameterShape> shapes(9, shape(10));
  const auto plan = plan_buckets(shapes, 80, 120);
  CHECK(parameters_by_bucket(plan) ==
        std::vector<std::vector<std::size_t>>{{8, 7}, {6, 5, 4}, {3, 2, 1}, {0}});
}

TEST_CASE("a parameter larger than the limit closes the bucket it comes into") {
  const std::vector<ParameterShape> shapes{shape(4), shape(1000), shape(4)};
  CHECK(parameters_by_bucket(plan_buckets(shapes, 100, 100)) ==
        std::vector<std::vector<std::size_t>>{{2, 1}, {0}});
}

TEST_CASE("each dtype has its buckets, ordered by when they are full") {
  const std::vector<ParameterShape> shapes{shape(8, ScalarType::Double), shape(8),
                                           shape(8, ScalarType::BFloat16), shape(8),
                                           shape(8, ScalarType::Double)};
  CHECK(parameters_by_bucket(plan_buckets(shapes, 1 << 20, 1 << 20)) ==
        std::vector<std::vector<std::size_t>>{{2}, {3, 1}, {4, 0}});
}

TEST_CASE("slots start on 64 bytes and 16 elements and are padded to them") {
  const std::vector<ParameterShape> shapes{
      shape(1), shape(17), shape(0), shape(33, ScalarType::BFloat16), shape(5, ScalarType::Double)};
  const auto plan = plan_buckets(shapes, 1 << 20, 1 << 20);
  for (const auto& slot : plan.slots) {
    const auto dtype = plan.buckets[slot.bucket].dtype;
    const auto bytes = static_cast<std::int64_t>(c10::elementSize(dtype));
    CHECK(slot.offset % 16 == 0);
    CHECK(slot.padded % 16 == 0);
    CHECK(slot.offset * bytes % 64 == 0);
    CHECK(slot.padded * bytes % 64 == 0);
    CHECK(slot.padded >= slot.numel);
    CHECK(slot.padded - slot.numel < slot_alignment(dtype));
  }
  for (const auto& bucket : plan.buckets) {
    std::int64_t end = 0;
    for (std::size_t slot = bucket.first; slot < bucket.last; ++slot) {
      CHECK(plan.slots[slot].offset == end);
      end += plan.slots[slot].padded;
    }
    CHECK(end == bucket.numel);
  }
}

TEST_CASE("no parameters make no buckets") { CHECK(plan_buckets({}, 1, 1).buckets.empty()); }
