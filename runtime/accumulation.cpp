#include "accumulation.hpp"

#include <muster/loop_state.hpp>

namespace muster {

bool Accumulation::next(int steps, bool at_end_of_loader, const LoopState& loop) {
  if (loop.batches() != batch_) {
    per_batch_ = in_batch_ > 0 ? in_batch_ : 1;
    batch_ = loop.batches();
    in_batch_ = 0;
  }
  ++in_batch_;
  const bool last = at_end_of_loader && loop.end_of_loader() && in_batch_ >= per_batch_;
  const bool closes = ++open_ >= steps || last;
  if (closes) open_ = 0;
  return closes;
}

}  // namespace muster
