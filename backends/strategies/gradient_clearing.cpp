#include "gradient_window.hpp"

namespace muster {

void GradientWindow::consume(std::span<const std::size_t> slots) {
  if (phase_ == Phase::open) {
    // An optimizer that ran backwards of its own (a closure) has used them.
    for (std::size_t slot = 0; slot < has_gradient_.size(); ++slot) {
      has_gradient_[slot] = gradient_of(slot).defined();
    }
    settle();
  }
  for (const auto slot : slots) consumed_[slot] = true;
  if (!is_due()) micro_ = {};
}

void GradientWindow::zero_grad(std::span<const std::size_t> slots) {
  // A window of which no announced micro-step has had a backward holds what other models' losses
  // left behind, if anything.
  if (phase_ == Phase::open && announced_ && has_micro_step()) return;
  for (const auto slot : slots) {
    if (phase_ == Phase::reduced && has_gradient_[slot] && !consumed_[slot]) {
      dropped_[slot] = true;
      continue;
    }
    gradient_of(slot).reset();
    has_gradient_[slot] = false;
    scaled_.gone(slot);
    if (active_ != &first_) first_.slice(slot).zero_();
  }
  if (is_empty()) discard();
}

bool GradientWindow::is_empty() const {
  for (std::size_t slot = 0; slot < has_gradient_.size(); ++slot) {
    if (has_gradient_[slot] || gradient_of(slot).defined()) return false;
  }
  return true;
}

void GradientWindow::discard() {
  const bool sent = reduction_.started() > 0;
  for (std::size_t slot = 0; slot < has_gradient_.size(); ++slot) {
    if (reduction_.has_started(model_.slots()[slot].bucket)) continue;
    gradient_of(slot).reset();
    has_gradient_[slot] = consumed_[slot] = dropped_[slot] = false;
    scaled_.gone(slot);
  }
  watch_.forget();
  forget_micro_steps();
  micro_.counted = false;
  // What was sent is part of the others' sums: the window must still be closed.
  if (sent) return;
  late_.clear();
  active_ = &first_;
  phase_ = Phase::idle;
}

}  // namespace muster
