#pragma once

#include <muster/autocast.hpp>
#include <muster/grad_scaler.hpp>
#include <muster/optimizer.hpp>
#include <muster/processes.hpp>

#include <string_view>

namespace muster {

/// The part of Accelerator that has to do with mixed precision: weights and gradients are fp32, and
/// a prepared model computes in bf16 or fp16. The loss of fp16 is multiplied by a scale for the
/// backward, and gradients are divided by it before the first clipping or step of a window.
class Precision : public Processes {
 public:
  /// "no", "bf16" or "fp16". It is what happens: where a device cannot, the constructor throws
  /// (Accelerate says "fp16" on CPU and trains in fp32).
  std::string_view mixed_precision() const noexcept;
  /// Autocast as in the model's forward, for what is outside of it, such as a loss; with `enabled`
  /// false it is off in the block, for what needs fp32 inside a forward. Without mixed precision
  /// the first does nothing. Guards may be nested. No communication.
  Autocast autocast(bool enabled = true) const;

  /// Divides the gradients of all prepared models, or of the optimizer's parameters, by the loss
  /// scale, for what reads them before clipping or step(). Once a window; nothing on a micro-step
  /// that only accumulates, or without fp16. Throws as Optimizer::step().
  void unscale_gradients();
  void unscale_gradients(const Optimizer& optimizer);
  /// Its scale is 1 without fp16. Each due step of an optimizer moves it; gradients keep the scale
  /// they were computed with (in Accelerate a second optimizer's are divided by the scale that the
  /// first one's step has left).
  GradScaler& scaler() noexcept;
  const GradScaler& scaler() const noexcept;

 protected:
  using Processes::Processes;
  ~Precision() = default;
  Precision(const Precision&) = delete;
  Precision& operator=(const Precision&) = delete;
  Precision(Precision&&) noexcept = default;
  Precision& operator=(Precision&&) noexcept = default;
};

}  // namespace muster
