#pragma once

#include <muster/communicator.hpp>

#include "flat_model.hpp"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace muster {

/// dtype of the gradients of parameters of `dtype`: fp32 for narrower ones.
c10::ScalarType gradient_dtype(c10::ScalarType dtype);

/// Flat memory for the gradients of a model's buckets, in memory that the communicator chose, and a
/// window a slot. The last bucket ends with `tail` more elements for what travels with it.
class GradientBuffers {
 public:
  GradientBuffers(const FlatModel& model, Communicator& communicator, std::int64_t tail);

  const at::Tensor& flat(std::size_t bucket) const { return flats_[bucket]; }  ///< With the tail.
  const at::Tensor& payload(std::size_t bucket) const { return payloads_[bucket]; }
  const at::Tensor& tail() const { return tail_; }
  const at::Tensor& window(std::size_t slot) const { return windows_[slot]; }
  const at::Tensor& slice(std::size_t slot) const { return slices_[slot]; }  ///< [padded]

  /// The parameter's .grad is the window, or lies in its place: what is in the bucket is its
  /// gradient.
  bool holds(std::size_t slot) const;
  /// Makes the bucket hold what .grad is, and .grad the window; copies a gradient that lives
  /// elsewhere, detached and dense. False if there is none: the slot is zero then. Throws
  /// ModelError if the shapes differ.
  bool take_in(std::size_t slot) const;
  /// Makes .grad the window as it is.
  void bind(std::size_t slot) const;

  /// Called with the slot of a gradient that was sparse.
  std::function<void(std::size_t slot)> on_sparse = [](std::size_t) {};

 private:
  const FlatModel& model_;
  std::vector<at::Tensor> flats_, payloads_, windows_, slices_;
  at::Tensor tail_;
};

}  // namespace muster
