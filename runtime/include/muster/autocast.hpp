#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include <optional>

namespace muster {

/// Autocast for the block that holds this, on the thread that made it: matrix products,
/// convolutions and the like compute in a narrower dtype than their inputs. The end of the block
/// restores what was, also after an exception.
///
/// LibTorch keeps the narrow copies of weights until the outermost guard ends. Prepared optimizers
/// forget them after an update too, so a guard around a whole training loop does not compute with
/// old weights, as it does in LibTorch and PyTorch.
class [[nodiscard]] Autocast {
 public:
  Autocast() noexcept = default;  ///< Changes nothing.
  /// To `dtype`; without one autocast is off.
  Autocast(c10::DeviceType device, std::optional<c10::ScalarType> dtype);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

  /// Weights have changed: drops their narrow copies, of all threads.
  static void forget_weights();

 private:
  struct Before {
    c10::DeviceType device;
    bool enabled;
    c10::ScalarType dtype;
  };
  std::optional<Before> before_;
};

}  // namespace muster
