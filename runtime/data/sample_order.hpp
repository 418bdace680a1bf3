#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace muster {

/// The order in which an epoch visits a data set: position -> index.
class SampleOrder {
 public:
  /// 0, 1, 2, ...
  static SampleOrder sequential(std::int64_t samples);
  /// A permutation that is a function of (samples, seed) only, on every machine and with every
  /// LibTorch: the one that at::randperm makes with a CPU generator of that seed. 4 bytes a sample.
  static SampleOrder shuffled(std::int64_t samples, std::uint64_t seed);
  static SampleOrder listed(std::vector<std::int64_t> indices);

  std::int64_t size() const noexcept { return size_; }
  std::int64_t operator[](std::int64_t position) const noexcept {
    const auto at = static_cast<std::size_t>(position);
    if (!narrow_.empty()) return narrow_[at];
    return wide_.empty() ? position : wide_[at];
  }

 private:
  std::int64_t size_ = 0;
  std::vector<std::uint32_t> narrow_;  ///< Used when all indices fit.
  std::vector<std::int64_t> wide_;
};

}  // namespace muster
