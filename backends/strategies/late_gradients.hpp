#pragma once

#include <muster/communicator.hpp>

#include "flat_model.hpp"
#include "gradient_buffers.hpp"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace muster {

/// What the ranks know of a window's late gradients; equal on all.
struct LateArrivals {
  const std::vector<double>& late;      ///< Per slot, not zero if some rank has one.
  const std::vector<double>& divisors;  ///< Per bucket: its sums are divided by it.
};

/// Gradients that came after their bucket was sent: kept apart, reduced alone, added.
class LateGradients {
 public:
  explicit LateGradients(const FlatModel& model)
      : gradients_(model.slots().size()), model_(model) {}

  void add(std::size_t slot, const at::Tensor& gradient);
  bool has(std::size_t slot) const { return gradients_[slot].defined(); }
  void clear() { std::ranges::fill(gradients_, at::Tensor()); }
  /// Adds the mean of those of all ranks to the buckets. Returns the number of slots.
  std::uint64_t reduce_into(const GradientBuffers& buffers, Communicator& communicator,
                            const LateArrivals& arrivals);

 private:
  std::vector<at::Tensor>
      gradients_;  ///< Per slot, of the gradients' dtype and the window's form; mostly undefined.
  const FlatModel& model_;
};

}  // namespace muster
