#pragma once

#include <cstdint>

namespace muster {

// Closed forms, as in simple_schedules.hpp.

/// Half a cosine wave from the rate down to lr_end in total_iters steps; then it stays there. This
/// is what large models are trained with, after a warm-up. transformers' cosine rises again after
/// the last step.
struct CosineLR {
  std::int64_t total_iters;
  double lr_end = 0;
  double num_cycles = 0.5;     ///< Waves in all; with hard_restarts half waves.
  bool hard_restarts = false;  ///< Each half wave starts at the rate again.

  double rate(std::int64_t step, double base) const noexcept;
  void check() const;
};

/// A cosine wave between the rate and eta_min, t_max steps down and t_max up again, for ever, as in
/// PyTorch. CosineLR stays down.
struct CosineAnnealingLR {
  std::int64_t t_max;
  double eta_min = 0;

  double rate(std::int64_t step, double base) const noexcept;
  void check() const;
};

/// Half a cosine wave from the rate to eta_min, and again from the rate: the first takes t_0 steps,
/// each further one t_mult times as many as the one before.
struct CosineAnnealingWarmRestarts {
  std::int64_t t_0;
  std::int64_t t_mult = 1;
  double eta_min = 0;

  double rate(std::int64_t step, double base) const noexcept;
  void check() const;
};

}  // namespace muster
