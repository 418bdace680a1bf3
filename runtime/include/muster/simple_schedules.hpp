#pragma once

#include <cstdint>
#include <vector>

namespace muster {

// Names and defaults are PyTorch's, in small letters. Each is a closed form: rate() is the learning
// rate after `step` steps of a group that has `base`. check() throws ConfigError for an option that
// cannot be; a Schedule calls it.

/// `factor` times the rate for total_iters steps, then the rate itself.
struct ConstantLR {
  double factor = 1.0 / 3;
  std::int64_t total_iters = 5;

  double rate(std::int64_t step, double base) const noexcept;
  void check() const;
};

/// From start_factor to end_factor of the rate in total_iters steps, along a line; then it stays.
/// start_factor may be 0, which PyTorch refuses.
struct LinearLR {
  double start_factor = 1.0 / 3;
  double end_factor = 1;
  std::int64_t total_iters = 5;

  double rate(std::int64_t step, double base) const noexcept;
  void check() const;
};

/// Times `gamma` at each step.
struct ExponentialLR {
  double gamma;

  double rate(std::int64_t step, double base) const noexcept;
  void check() const;
};

/// Times `gamma` at every step_size-th step.
struct StepLR {
  std::int64_t step_size;
  double gamma = 0.1;

  double rate(std::int64_t step, double base) const noexcept;
  void check() const;
};

/// Times `gamma` at each of the steps in `milestones`, in any order; one that stands twice counts
/// twice.
struct MultiStepLR {
  std::vector<std::int64_t> milestones;
  double gamma = 0.1;

  double rate(std::int64_t step, double base) const noexcept;
  void check() const;
};

/// Down to lr_end in total_iters steps, along (1 - step / total_iters)^power; then it stays.
struct PolynomialLR {
  std::int64_t total_iters = 5;
  double power = 1;
  double lr_end = 0;

  double rate(std::int64_t step, double base) const noexcept;
  void check() const;
};

/// The rate times sqrt(timescale / (step + timescale)). After a warm-up of as many steps this is
/// transformers' inverse square root.
struct InverseSqrtLR {
  std::int64_t timescale = 10000;

  double rate(std::int64_t step, double base) const noexcept;
  void check() const;
};

}  // namespace muster
