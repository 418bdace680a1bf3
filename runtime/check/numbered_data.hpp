#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace muster::check {

/// A data set whose samples are their numbers, and which no number of ranks divides.
struct NumberedData {
  static constexpr std::int64_t samples = 211;
  static std::int64_t size() noexcept { return samples; }
  /// [indices] int64.
  static at::Tensor get_batch(const std::vector<std::int64_t>& indices);
};

/// The numbers in `batch`, [n] int64 of any device, behind those of `list`.
void append(std::vector<std::int64_t>& list, const at::Tensor& batch);

}  // namespace muster::check
