#pragma once

#include <muster/schedule.hpp>

#include <memory>
#include <vector>

namespace muster {

enum class PlateauMode { min, max };
enum class ThresholdMode { rel, abs };

/// Times `factor` when a metric has not got better for more than `patience` measurements; give each
/// to Scheduler::step(metric).
struct ReduceLROnPlateau {
  PlateauMode mode = PlateauMode::min;  ///< Which metrics are better: smaller or greater ones.
  double factor = 0.1;
  int patience = 10;
  double threshold = 1e-4;  ///< How much better counts: a share of the best, or an amount.
  ThresholdMode threshold_mode = ThresholdMode::rel;
  int cooldown = 0;              ///< Measurements after a reduction that count for nothing.
  std::vector<double> min_lr{};  ///< One for all groups or one each; empty: 0.
  double eps = 1e-8;             ///< A reduction by no more than this is not made.

  /// Throws ConfigError for an option that cannot be.
  std::unique_ptr<ScheduleRule> make_rule() const;
};

}  // namespace muster
