#include "accumulation.hpp"

#include <muster/loop_state.hpp>

namespace muster {

bool Accumulation::next(int steps, bool at_end_of_loader, const LoopState& loop) {
  const bool overdue = tail_ && (loop.batches() != batch_ || !loop.end_of_loader());
  if (loop.batches() != batch_) {
    per_batch_ = in_batch_ > 0 ? in_batch_ : 1;
    batch_ = loop.batches();
    in_batch_ = 0;
  }
  ++in_batch_;
  tail_ = at_end_of_loader && loop.end_of_loader();
  return ++open_ >= steps || overdue || (tail_ && in_batch_ >= per_batch_);
}

void Accumulation::close() noexcept {
  open_ = 0;
  tail_ = false;
}

}  // namespace muster
