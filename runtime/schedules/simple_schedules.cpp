#include <muster/simple_schedules.hpp>

#include "schedule_check.hpp"

#include <algorithm>
#include <cmath>

namespace muster {
namespace {

/// How much of `total` steps is over, 0 to 1.
double progress(std::int64_t step, std::int64_t total) {
  return total == 0 ? 1.0 : static_cast<double>(std::min(step, total)) / static_cast<double>(total);
}

}  // namespace

double ConstantLR::rate(std::int64_t step, double base) const noexcept {
  return step < total_iters ? base * factor : base;
}

void ConstantLR::check() const {
  require_not_negative("ConstantLR: factor", factor);
  require_at_least(0, "ConstantLR: total_iters", total_iters);
}

double LinearLR::rate(std::int64_t step, double base) const noexcept {
  return base * (start_factor + (end_factor - start_factor) * progress(step, total_iters));
}

void LinearLR::check() const {
  require_not_negative("LinearLR: start_factor", start_factor);
  require_not_negative("LinearLR: end_factor", end_factor);
  require_at_least(0, "LinearLR: total_iters", total_iters);
}

double ExponentialLR::rate(std::int64_t step, double base) const noexcept {
  return base * std::pow(gamma, static_cast<double>(step));
}

void ExponentialLR::check() const { require_not_negative("ExponentialLR: gamma", gamma); }

double StepLR::rate(std::int64_t step, double base) const noexcept {
  const std::int64_t passed = step / step_size;
  return base * std::pow(gamma, static_cast<double>(passed));
}

void StepLR::check() const {
  require_at_least(1, "StepLR: step_size", step_size);
  require_not_negative("StepLR: gamma", gamma);
}

double MultiStepLR::rate(std::int64_t step, double base) const noexcept {
  const auto passed = std::ranges::count_if(
      milestones, [step](std::int64_t milestone) { return milestone <= step; });
  return base * std::pow(gamma, static_cast<double>(passed));
}

void MultiStepLR::check() const {
  for (const auto milestone : milestones) {
    require_at_least(0, "MultiStepLR: a milestone", milestone);
  }
  require_not_negative("MultiStepLR: gamma", gamma);
}

double PolynomialLR::rate(std::int64_t step, double base) const noexcept {
  return lr_end + (base - lr_end) * std::pow(1 - progress(step, total_iters), power);
}

void PolynomialLR::check() const {
  require_at_least(0, "PolynomialLR: total_iters", total_iters);
  require_option(std::isfinite(power) && power > 0, "PolynomialLR: power", power,
                 "a number greater than 0");
  require_not_negative("PolynomialLR: lr_end", lr_end);
}

double InverseSqrtLR::rate(std::int64_t step, double base) const noexcept {
  const auto scale = static_cast<double>(timescale);
  return base / std::sqrt((static_cast<double>(step) + scale) / scale);
}

void InverseSqrtLR::check() const { require_at_least(1, "InverseSqrtLR: timescale", timescale); }

}  // namespace muster
