#include "data/sample_order.hpp"

#include <limits>
#include <numeric>
#include <random>
#include <utility>

namespace muster {
namespace {

/// Above this, 32 random bits are too few for an even choice, and LibTorch draws 64.
constexpr std::uint64_t few_samples = std::numeric_limits<std::uint32_t>::max() / 20;

/// Fisher-Yates with LibTorch's draws: its CPU generator is a Mersenne twister, of which seeds take
/// the low 32 bits.
template <class Index>
std::vector<Index> permutation(std::uint64_t samples, std::uint64_t seed) {
  std::mt19937 generator(static_cast<std::uint32_t>(seed));
  const bool wide = samples >= few_samples;
  std::vector<Index> order(samples);
  std::iota(order.begin(), order.end(), Index{0});
  for (std::uint64_t i = 0; i + 1 < samples; ++i) {
    std::uint64_t draw = generator();
    if (wide) draw = draw << 32U | generator();
    std::swap(order[i], order[i + draw % (samples - i)]);
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
