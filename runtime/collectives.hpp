#pragma once

#include <muster/communicator.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// What Accelerator offers on tensors, for any group. All ranks of the group call the same; first
/// they compare what they were called with, so that a difference is a ModelError on all of them and
/// not a wait in vain.
namespace muster::collectives {

/// tensor: [n, ...], or 0-dim for [1]; returns [size * n, ...].
at::Tensor gather(Communicator& group, const at::Tensor& tensor);

/// The present batch of a loader.
struct BatchSamples {
  std::int64_t real = -1;  ///< Of all ranks, less those that were repeated to complete it; -1: all.
  std::int64_t here = -1;  ///< Of this rank, with those; -1: unknown.
};
/// gather() of ranks that may differ in their first dimension, less the rows of samples that were
/// repeated to complete the batch.
at::Tensor gather_for_metrics(Communicator& group, const at::Tensor& tensor,
                              const BatchSamples& batch);
at::Tensor reduce(Communicator& group, const at::Tensor& tensor, std::string_view reduction);
at::Tensor broadcast(Communicator& group, at::Tensor tensor, int from);

struct Padding {
  std::int64_t dim = 0;
  double value = 0;
  bool first = false;
};
at::Tensor pad(Communicator& group, const at::Tensor& tensor, const Padding& padding);

/// rows [n, ...] with `row` [1, ...] after it, `times` times. No communication.
at::Tensor append_rows(const at::Tensor& rows, const at::Tensor& row, std::int64_t times);

/// How work that rank 0 did alone has ended.
struct Outcome {
  std::string failure;           ///< What it threw, in words, on all ranks; empty: nothing.
  std::exception_ptr exception;  ///< The same on rank 0; null on the others.
};
Outcome run_on_rank_0(Communicator& group, std::string_view label,
                      const std::function<void()>& work);

}  // namespace muster::collectives
