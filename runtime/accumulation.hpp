#pragma once

#include <cstdint>

namespace muster {

class LoopState;

/// Says of each micro-step of one model whether it closes the window.
class Accumulation {
 public:
  /// A micro-step begins. It closes the window if it is the `steps`-th since the last that did, or,
  /// with `at_end_of_loader`, the last of the loader's last batch. A program that cuts each batch
  /// in several micro-steps makes as many from the last batch as from the one before.
  bool next(int steps, bool at_end_of_loader, const LoopState& loop);
  /// The window was closed for another reason.
  void close() noexcept { open_ = 0; }
  /// The window has micro-steps and is not closed yet.
  bool is_open() const noexcept { return open_ > 0; }

 private:
  int open_ = 0;             ///< Micro-steps in the window.
  std::uint64_t batch_ = 0;  ///< The loader's batch of the newest micro-step.
  int in_batch_ = 0;         ///< Micro-steps of that batch.
  int per_batch_ = 1;        ///< Micro-steps of the batch before.
};

}  // namespace muster
