#pragma once

#include <muster/accelerator.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace digits {

/// Loss and accuracy over the batches of an epoch.
class Tally {
 public:
  /// loss: one number, the mean of a batch; scores: [n, 10]; target: [n].
  void add(const at::Tensor& loss, const at::Tensor& scores, const at::Tensor& target);
  std::int64_t steps() const noexcept { return steps_; }
  /// "loss 0.412  accuracy 0.893"
  std::string text() const;
  /// The same over the batches of all ranks; every rank calls it.
  Tally over_all_ranks(const muster::Accelerator& accelerator) const;

 private:
  std::int64_t steps_ = 0, images_ = 0, right_ = 0;
  double loss_ = 0;  ///< Sum over images.
};

}  // namespace digits
