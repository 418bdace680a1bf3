#include <muster/cosine_schedules.hpp>

#include "schedule_check.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace muster {
namespace {

/// From `base` at 0 to `low` at 1 and back at 2, along a cosine.
double wave(double base, double low, double half_waves) {
  return low + (base - low) * (1 + std::cos(std::numbers::pi * half_waves)) / 2;
}

double ratio(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double CosineLR::rate(std::int64_t step, double base) const noexcept {
  const double progress = step < total_iters ? ratio(step, total_iters) : 1.0;
  if (!hard_restarts) return wave(base, lr_end, 2 * num_cycles * progress);
  if (progress >= 1) return lr_end;
  return wave(base, lr_end, std::fmod(num_cycles * progress, 1.0));
}

void CosineLR::check() const {
  require_at_least(1, "CosineLR: total_iters", total_iters);
  require_not_negative("CosineLR: lr_end", lr_end);
  require_option(std::isfinite(num_cycles) && num_cycles > 0, "CosineLR: num_cycles", num_cycles,
                 "a number greater than 0");
}

double CosineAnnealingLR::rate(std::int64_t step, double base) const noexcept {
  return wave(base, eta_min, ratio(step % (2 * t_max), t_max));
}

void CosineAnnealingLR::check() const {
  require_at_least(1, "CosineAnnealingLR: t_max", t_max);
  require_not_negative("CosineAnnealingLR: eta_min", eta_min);
}

double CosineAnnealingWarmRestarts::rate(std::int64_t step, double base) const noexcept {
  if (t_mult == 1) return wave(base, eta_min, ratio(step % t_0, t_0));
  std::int64_t length = t_0;
  // One that would not fit a std::int64_t is longer than any training.
  for (; step >= length; length *= t_mult) {
    step -= length;
    if (length > INT64_MAX / t_mult) break;
  }
  return wave(base, eta_min, ratio(step, length));
}

void CosineAnnealingWarmRestarts::check() const {
  require_at_least(1, "CosineAnnealingWarmRestarts: t_0", t_0);
  require_at_least(1, "CosineAnnealingWarmRestarts: t_mult", t_mult);
  require_not_negative("CosineAnnealingWarmRestarts: eta_min", eta_min);
}

}  // namespace muster
