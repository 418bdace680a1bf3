#include <muster/device.hpp>
#include <muster/error.hpp>

#include "gradient_window.hpp"

#include <algorithm>
#include <sstream>

namespace muster {

void GradientWindow::begin_backward(double scale) {
  incoming_scale_ = scale;
  // Also on a rank whose backward will give this model nothing.
  if (phase_ == Phase::open && reduction_.started() == 0) bring_sums_to(scale);
}

/// Before a gradient of a loss with another scale is added: exact for powers of two.
void GradientWindow::bring_sums_to(double scale) {
  if (sums_scale_ == scale) return;
  if (reduction_.started() > 0) {
    std::ostringstream text;
    text << "a micro-step has a backward of a loss that is scaled by " << sums_scale_
         << " and one by " << scale
         << ": call accelerator.backward(loss) for each loss, and not loss.backward()";
    throw ModelError(text.str());
  }
  for (std::size_t slot = 0; slot < has_gradient_.size(); ++slot) {
    if (!active_->take_in(slot)) continue;
    const auto& values = active_->slice(slot);
    device_kind(values.device()).kernels().scale(values, scale / sums_scale_);
  }
  sums_scale_ = scale;
}

/// What is to be added to means gets their scale, which is 1 for those that were unscaled.
void GradientWindow::match_means(double scale) {
  for (std::size_t slot = 0; slot < has_gradient_.size(); ++slot) {
    if (!has_gradient_[slot] || scaled_.scale(slot) == scale) continue;
    const auto& values = active_->slice(slot);
    device_kind(values.device()).kernels().scale(values, scaled_.scale(slot) / scale);
  }
}

void GradientWindow::require_one_scale(const WindowReport& sums) const {
  if (sums.one_scale()) return;
  std::ostringstream text;
  text << "ranks have gradients of losses with different scales (here " << sums_scale_
       << "): call accelerator.backward(loss) on every rank, or loss.backward() on "
          "every rank";
  throw ModelError(text.str());
}

bool GradientWindow::is_scaled(std::span<const std::size_t> slots) const {
  return std::ranges::any_of(
      slots, [this](auto slot) { return has_gradient_[slot] && !scaled_.is_checked(slot); });
}

void GradientWindow::unscale(std::span<const std::size_t> slots) {
  for (const auto slot : slots) {
    if (has_gradient_[slot]) scaled_.unscale(slot, first_.slice(slot));
  }
}

bool GradientWindow::are_finite(std::span<const std::size_t> slots) const {
  return std::ranges::all_of(slots, [this](auto slot) { return scaled_.is_finite(slot); });
}

}  // namespace muster
