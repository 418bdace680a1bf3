#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace torch::optim {
class Optimizer;
}

namespace muster {

struct PreparedOptimizer;

/// What prepare() returns for an optimizer. The user's object stays the truth: its options are read
/// at each step, and its parameters and state are the real ones. Cheap to copy.
///
/// Every rank must call the same in the same order. What a micro-step that only accumulates has no
/// use for does nothing, so the loop needs no `if` and the order of step and zero_grad is free.
class Optimizer {
 public:
  explicit Optimizer(std::shared_ptr<PreparedOptimizer> prepared)
      : prepared_(std::move(prepared)) {}

  /// One update from the mean gradient over the window and all ranks; nothing if the micro-step
  /// does not synchronise. Nothing either, on all ranks, if one of them left the closing micro-step
  /// of one of the optimizer's models without a backward, or in fp16 if a gradient is not finite.
  /// Throws ModelError, naming the parameter, if one is no longer as it was prepared, and
  /// NonFiniteError after too many steps in a row that were skipped for gradients.
  void step();
  /// For optimizers that evaluate the loss themselves. `closure` calls zero_grad and backward and
  /// returns the loss; it is called once for optimizers that need it once. LBFGS and others of
  /// unknown kind call it as often as they like, and all ranks the same: they see, and this
  /// returns, the mean of the loss over the ranks. With several micro-steps a step, or in fp16,
  /// these throw UnsupportedError.
  at::Tensor step(const std::function<at::Tensor()>& closure);
  /// Clears the gradients of a window that has ended, and what losses of other models left before
  /// the window's first backward; nothing inside a window.
  void zero_grad();

  std::uint64_t steps() const noexcept;  ///< Updates made so far; the same on all ranks.
  /// The newest step() was due and made no update. One that is not due is not skipped.
  bool step_was_skipped() const noexcept;

  torch::optim::Optimizer* operator->() const noexcept;
  torch::optim::Optimizer& operator*() const noexcept { return *operator->(); }
  /// The user's object.
  torch::optim::Optimizer& unwrap() const noexcept { return *operator->(); }
  /// The same prepared optimizer.
  bool operator==(const Optimizer& other) const noexcept = default;

 private:
  friend class Scheduler;
  friend class Precision;
  std::shared_ptr<PreparedOptimizer> prepared_;
};

}  // namespace muster
