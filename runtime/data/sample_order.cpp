#include "data/sample_order.hpp"

#include <limits>
#include <numeric>
#include <random>
#include <utility>

namespace muster {
namespace {

/// From here on 32 random bits are too few for an even choice, and LibTorch draws 64 and fills from
/// the front.
constexpr std::uint64_t many_samples = std::numeric_limits<std::uint32_t>::max() / 20;

/// Fisher-Yates with LibTorch's draws: its CPU generator is a Mersenne twister, of which seeds take
/// the low 32 bits.
template <class Index>
std::vector<Index> permutation(std::uint64_t samples, std::uint64_t seed) {
  std::mt19937 generator(static_cast<std::uint32_t>(seed));
  std::vector<Index> order(samples);
  std::iota(order.begin(), order.end(), Index{0});
  if (samples < many_samples) {
    for (std::uint64_t i = 0; i + 1 < samples; ++i) {
      std::swap(order[i], order[i + generator() % (samples - i)]);
    }
    return order;
  }
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::uint64_t high = generator();
    std::swap(order[i], order[(high << 32U | generator()) % (i + 1)]);
  }
  return order;
}

}  // namespace

SampleOrder SampleOrder::sequential(std::int64_t samples) {
  SampleOrder order;
  order.size_ = samples;
  return order;
}

SampleOrder SampleOrder::shuffled(std::int64_t samples, std::uint64_t seed) {
  SampleOrder order;
  order.size_ = samples;
  const auto count = static_cast<std::uint64_t>(samples);
  if (count <= std::numeric_limits<std::uint32_t>::max()) {
    order.narrow_ = permutation<std::uint32_t>(count, seed);
  } else {
    order.wide_ = permutation<std::int64_t>(count, seed);
  }
  return order;
}

SampleOrder SampleOrder::listed(std::vector<std::int64_t> indices) {
  SampleOrder order;
  order.size_ = static_cast<std::int64_t>(indices.size());
  order.wide_ = std::move(indices);
  return order;
}

}  // namespace muster
