#include "data/sample_order.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/randperm.h>
#include <catch2/catch_test_macros.hpp>

#include <numeric>

namespace muster::test {
namespace {

std::vector<std::int64_t> listed(const SampleOrder& order) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < order.size(); ++i) indices.push_back(order[i]);
  return indices;
}

using List = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("shuffled orders are the recorded ones") {
  CHECK(listed(SampleOrder::shuffled(10, 42)) == List{2, 6, 1, 8, 4, 5, 0, 9, 3, 7});
  CHECK(listed(SampleOrder::shuffled(10, 43)) == List{8, 4, 9, 0, 5, 1, 6, 7, 2, 3});
  CHECK(listed(SampleOrder::shuffled(10, 44)) == List{2, 6, 3, 8, 7, 9, 1, 4, 5, 0});
  CHECK(listed(SampleOrder::shuffled(10, 0)) == List{4, 1, 7, 5, 3, 9, 0, 8, 6, 2});
  CHECK(listed(SampleOrder::shuffled(10, 7)) == List{5, 0, 3, 4, 1, 7, 9, 6, 8, 2});
}

TEST_CASE("shuffled orders are those of LibTorch's generator") {
  for (const std::int64_t samples : {0, 1, 2, 3, 1000, 100'003}) {
    for (const std::uint64_t seed : {0ULL, 42ULL, 0xffffffffULL, 0x123456789abcULL}) {
      CAPTURE(samples, seed);
      const at::Tensor expected =
          at::randperm(samples, at::detail::createCPUGenerator(seed), at::TensorOptions(at::kLong));
      const auto* first = expected.const_data_ptr<std::int64_t>();
      CHECK(listed(SampleOrder::shuffled(samples, seed)) == List(first, first + samples));
    }
  }
}

TEST_CASE("other orders") {
  CHECK(listed(SampleOrder::sequential(4)) == List{0, 1, 2, 3});
  CHECK(listed(SampleOrder::listed({3, 3, 0})) == List{3, 3, 0});
  CHECK(SampleOrder::listed({}).size() == 0);
}

}  // namespace muster::test
