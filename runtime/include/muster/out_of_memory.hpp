#pragma once

#include <muster/accelerator.hpp>
#include <muster/error.hpp>
#include <muster/structure.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster {

/// Memory does not suffice, however small the pieces were made.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// An allocation that failed: c10::OutOfMemoryError, std::bad_alloc, or an error whose text is that
/// of an allocator of LibTorch. "illegal memory access" and the like are none.
bool is_out_of_memory(const std::exception_ptr& error);

/// What find_executable_batch_size() does, a try at a time.
class BatchSizeSearch {
 public:
  using Reduce = std::function<std::int64_t(std::int64_t)>;
  BatchSizeSearch(Accelerator& accelerator, std::int64_t start, Reduce reduce);
  /// Calls work(size). True if it went well on all ranks; false if memory did not suffice on one,
  /// and the next call tries less.
  bool attempt(const std::function<void(std::int64_t)>& work);

 private:
  std::vector<std::int64_t> agree(std::int64_t outcome, bool group_is_lost);
  void decrease();

  Accelerator& accelerator_;
  std::int64_t size_;
  Reduce reduce_;
};

/// Calls work(batch_size) with `start`, and with half of it each time that memory did not suffice
/// on any rank, until it went well on all; returns what it returned. All ranks have the same size
/// at each try (Accelerate decides on each rank alone, and then hangs). `reduce` gives the next
/// size in place of the half (Accelerate's documentation says half, and it takes 0.9 of it). Any
/// other exception of `work` comes out as it is. Throws OutOfMemory on all ranks when the size
/// comes to 0, ConfigError for a start below 1.
///
/// A rank without memory leaves the collectives of its try, which ends them on the others; the
/// ranks then make a new group. So models, optimizers and what else of the Accelerator was prepared
/// are let go of after a failed try: prepare them inside `work`.
template <class Work>
auto find_executable_batch_size(Accelerator& accelerator, std::int64_t start, Work&& work,
                                BatchSizeSearch::Reduce reduce = {}) {
  using Result = std::invoke_result_t<Work, std::int64_t>;
  BatchSizeSearch search(accelerator, start, std::move(reduce));
  if constexpr (std::is_void_v<Result>) {
    while (!search.attempt([&](std::int64_t size) { work(size); })) continue;
  } else {
    std::optional<Result> result;
    while (!search.attempt([&](std::int64_t size) { result.emplace(work(size)); })) result.reset();
    return std::move(*result);
  }
}

/// The micro-steps of one step that may run out of memory; see try_step().
class MicroSteps {
 public:
  using LossOfRows = std::function<at::Tensor(std::int64_t begin, std::int64_t rows)>;
  MicroSteps(Accelerator& accelerator, const ModelHandle& model, std::int64_t rows);
  at::Tensor run(const LossOfRows& loss_of);

 private:
  at::Tensor attempt(const LossOfRows& loss_of);
  void leave();
  void divide(const std::vector<std::string>& reports);

  Accelerator& accelerator_;
  ModelHandle model_;
  std::int64_t rows_;
  bool closing_ = false;  ///< The present try has begun its closing micro-step.
};

/// A structure of tensors, or a struct of two, as a data loader's Example.
template <class Batch>
concept BatchOfTensors = TensorStructure<Batch> || requires(Batch batch) {
  requires TensorStructure<decltype(batch.data)>;
  requires TensorStructure<decltype(batch.target)>;
};

template <BatchOfTensors Batch, class Visit>
void for_each_tensor_of_batch(Batch& batch, Visit&& visit) {
  if constexpr (TensorStructure<Batch>) {
    for_each_tensor(batch, visit);
  } else {
    for_each_tensor(batch.data, visit);
    for_each_tensor(batch.target, visit);
  }
}

/// The backward of one step, from a batch [rows, ...] of this rank, that goes on with less memory:
/// `loss` gives the mean loss of the rows that it gets. If memory does not suffice on any rank, all
/// ranks forget the try, cut their batches in twice as many micro-steps, say what filled the
/// memory, and begin anew; later steps begin with as many. The gradients stay those of the whole
/// batch. Returns this rank's mean loss, without history. In place of accumulate() and backward();
/// clipping and the optimizer's step come after it as usual. One small communication a step.
///
/// Generators of random numbers are put back for a new try; buffers such as batch-norm statistics
/// keep what the failed one did, and collectives that `loss` calls itself are not released. Throws
/// OutOfMemory, on all ranks, where one row does not fit, and ConfigError with
/// gradient_accumulation_steps > 1 or for tensors that differ in rows.
template <BatchOfTensors Batch, class Loss>
at::Tensor try_step(Accelerator& accelerator, const ModelHandle& model, const Batch& batch,
                    Loss&& loss) {
  std::int64_t rows = -1;
  for_each_tensor_of_batch(batch, [&](const at::Tensor& tensor, const std::string&) {
    const auto own = tensor.defined() && tensor.dim() > 0 ? tensor.size(0) : 0;
    if (own == 0 || (rows >= 0 && own != rows)) {
      throw ConfigError("try_step: a tensor of the batch has " + std::to_string(own) +
                        " rows; all must have as many, and at least one");
    }
    rows = own;
  });
  return MicroSteps(accelerator, model, rows).run([&](std::int64_t begin, std::int64_t count) {
    Batch part = batch;
    for_each_tensor_of_batch(part, [&](at::Tensor& tensor, const std::string&) {
      tensor = tensor.narrow(0, begin, count);
    });
    return loss(part);
  });
}

}  // namespace muster
