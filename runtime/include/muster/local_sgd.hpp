#pragma once

#include <muster/accelerator.hpp>
#include <muster/model.hpp>

#include <cstdint>

namespace muster {

/// Training in which each rank steps by its own gradients, and every `steps` optimizer steps all
/// ranks take the mean of their parameters: less traffic, other numbers.
///
///   LocalSGD local(accelerator, model, 8);
///   for (auto& batch : loader) { ...; optimizer.step(); optimizer.zero_grad(); local.step(); }
///   local.finish();
///
/// Made and finished on all ranks. Means are formed in a few communications of up to 25 MiB
/// (Accelerate makes one a parameter). Parameters and floating buffers get the mean; whole-number
/// buffers rank 0's value. Throws UnsupportedError for a model that is sharded over ranks.
class LocalSGD {
 public:
  /// Not `enabled`: nothing changes, gradients are exchanged as ever.
  LocalSGD(Accelerator& accelerator, const ModelHandle& model, std::int64_t steps,
           bool enabled = true);
  /// Does not communicate: finish() does. Without it gradients stay on their ranks.
  ~LocalSGD();
  LocalSGD(const LocalSGD&) = delete;
  LocalSGD& operator=(const LocalSGD&) = delete;

  /// After optimizer.step(). Micro-steps that only accumulate do not count. Collective.
  void step();
  /// Takes the mean, of the optimizer's state too (Accelerate leaves that as it is, so ranks drift
  /// apart), and gradients are exchanged again. Later calls do nothing. Collective. Throws
  /// ModelError if optimizers have a state for different parameters.
  void finish();
  std::int64_t averages() const noexcept { return averages_; }  ///< Taken so far.

 private:
  void average();

  Accelerator& accelerator_;
  ModelHandle model_;
  std::int64_t steps_, done_ = 0, averages_ = 0;
  bool active_;
};

}  // namespace muster
