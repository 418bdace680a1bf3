#pragma once

#include <memory>

namespace muster {

struct AcceleratorState;
struct MicroStep;

/// A micro-step, from accumulate() or no_sync() to the end of the block that holds this. Its end
/// does nothing but forget it: no communication, no exception.
class [[nodiscard]] Scope {
 public:
  Scope(std::shared_ptr<AcceleratorState> state, std::shared_ptr<MicroStep> micro_step);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  /// This micro-step closes the window: gradients are exchanged and the optimizer steps.
  bool synchronises() const noexcept;

 private:
  std::shared_ptr<AcceleratorState> state_;
  std::shared_ptr<MicroStep> micro_step_;
};

}  // namespace muster
