#pragma once

#include <algorithm>
#include <cstdint>

namespace muster {

/// A rank's part of `count` items, and how long the longest part of any rank is.
struct SplitRange {
  std::int64_t begin = 0, end = 0, longest = 0;
};

/// Neighbouring items stay together; where it does not come out even, the first ranks have one
/// more.
constexpr SplitRange split_range(std::int64_t count, int rank, int size) noexcept {
  const std::int64_t base = count / size, more = count % size;
  const std::int64_t begin = rank * base + std::min<std::int64_t>(rank, more);
  return {begin, begin + base + (rank < more ? 1 : 0), base + (more > 0 ? 1 : 0)};
}

}  // namespace muster
