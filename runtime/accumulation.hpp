#pragma once

#include <cstdint>

namespace muster {

class LoopState;

/// Says of each micro-step of one model whether it closes the window.
class Accumulation {
 public:
  /// A micro-step begins. It should close the window if it is the `steps`-th since the last that
  /// did, or, with `at_end_of_loader`, the last of the loader's last batch. A program that cuts
  /// each batch in several micro-steps is taken to make as many from the last batch as from the one
  /// before, and one from a loader's only batch. If it made fewer, the next micro-step closes.
  bool next(int steps, bool at_end_of_loader, const LoopState& loop);
  /// The window closes with the present micro-step.
  void close() noexcept;

 private:
  int open_ = 0;             ///< Micro-steps in the window.
  bool tail_ = false;        ///< The newest is of a loader's last batch, and the window is open.
  std::uint64_t batch_ = 0;  ///< The loader's batch of the newest micro-step.
  int in_batch_ = 0;         ///< Micro-steps of that batch.
  int per_batch_ = 1;        ///< Micro-steps of the batch before.
};

}  // namespace muster
