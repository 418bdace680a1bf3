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

/// Gradients that came after their bucket was sent: kept apart, reduced alone, added.
class LateGradients {
 public:
  explicit LateGradients(const FlatModel& model)
      : gradients_(model.slots().size()), model_(model) {}

  void add(std::size_t slot, const at::Tensor& gradient);
  bool has(std::size_t slot) const { return gradients_[slot].defined(); }
  void clear() { std::ranges::fill(gradients_, at::Tensor()); }
  /// Sums those of all ranks into the buckets. `late`: per slot, not zero if some rank has one;
  /// equal on all ranks. Returns the number of slots.
  std::uint64_t reduce_into(const GradientBuffers& buffers, Communicator& communicator,
                            const std::vector<double>& late);

 private:
  std::vector<at::Tensor>
      gradients_;  ///< Per slot, of the gradients' dtype and the window's form; mostly undefined.
  const FlatModel& model_;
};

}  // namespace muster
