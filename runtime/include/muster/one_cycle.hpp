#pragma once

#include <muster/schedule.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace muster {

enum class AnnealStrategy { cos, linear };

/// Smith's one cycle: up from max_lr / div_factor to max_lr, then down to that / final_div_factor,
/// while momentum goes the other way. As PyTorch's, with two differences: max_lr may be left out,
/// and after total_steps the last rate stays, where PyTorch throws.
struct OneCycleLR {
  std::vector<double> max_lr{};  ///< One for all groups or one each; empty: the group's own rate.
  std::int64_t total_steps;
  double pct_start = 0.3;  ///< The share of steps that goes up.
  AnnealStrategy anneal_strategy = AnnealStrategy::cos;
  /// SGD's or RMSprop's momentum, Adam's beta1, changes too; other optimizers are refused.
  bool cycle_momentum = true;
  double base_momentum = 0.85;  ///< At max_lr.
  double max_momentum = 0.95;
  double div_factor = 25;
  double final_div_factor = 1e4;
  /// Down to where it began in as many steps as it took up, then to the end.
  bool three_phase = false;

  /// Throws ConfigError for an option that cannot be.
  std::unique_ptr<ScheduleRule> make_rule() const;
};

}  // namespace muster
