#pragma once

#include <muster/communicator.hpp>
#include <muster/structure.hpp>

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

/// Each leaf: [n, ...], or 0-dim for [1]; gives [sum of n, ...]. Ranks may differ in n if `uneven`.
std::vector<at::Tensor> gather(Communicator& group, const std::vector<TensorLeaf>& leaves,
                               bool uneven);

/// The present batch of a loader.
struct BatchSamples {
  std::int64_t real = -1;  ///< Of all ranks, less those that were repeated to complete it; -1: all.
  std::int64_t here = -1;  ///< Of this rank, with those; -1: unknown.
};
/// gather() of ranks that may differ in their first dimension, less the rows of samples that were
/// repeated to complete the batch.
std::vector<at::Tensor> gather_for_metrics(Communicator& group, std::vector<TensorLeaf> leaves,
                                           const BatchSamples& batch);
/// Rank `rank`'s rows of real samples. No communication.
at::Tensor real_rows(const at::Tensor& tensor, int rank, const BatchSamples& batch);
std::vector<at::Tensor> reduce(Communicator& group, const std::vector<TensorLeaf>& leaves,
                               std::string_view reduction);
void broadcast(Communicator& group, const std::vector<TensorLeaf>& leaves, int from);

struct Padding {
  std::int64_t dim = 0;
  double value = 0;
  bool first = false;
};
std::vector<at::Tensor> pad(Communicator& group, const std::vector<TensorLeaf>& leaves,
                            const Padding& padding);

/// Part p of rank `from`'s goes to rank p; the others give none. Returns this rank's.
at::Tensor scatter(Communicator& group, const std::vector<at::Tensor>& parts, int from);

/// Texts of any length, in rank order.
std::vector<std::string> gather_object(Communicator& group, std::string_view object,
                                       std::string_view operation = "gather_object");
std::string broadcast_object(Communicator& group, std::string_view object, int from,
                             std::string_view operation = "broadcast_object");

/// Throws ConfigError if the group has no such rank.
void require_rank(const Communicator& group, std::string_view operation, int rank);

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
