#pragma once

#include <muster/schedule.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace muster {

// make_rule() throws ConfigError for an option that cannot be; a Schedule calls it.

/// The rate times a function of the step: one for all groups or one each.
struct LambdaLR {
  std::vector<std::function<double(std::int64_t)>> lr_lambda;

  std::unique_ptr<ScheduleRule> make_rule() const;
};

/// A line from start_factor times what `then` begins with up to it, in num_warmup_steps steps; then
/// `then`, which counts its steps from there. Metrics of the warm-up count for nothing.
struct WarmupLR {
  std::int64_t num_warmup_steps;
  double start_factor = 0;
  Schedule then{};  ///< Left out: the rate as it is.

  std::unique_ptr<ScheduleRule> make_rule() const;
};

/// One after the other: the next one begins at each of the steps in `milestones`, ascending, and
/// counts from there. A metric goes to the one that is under way.
struct SequentialLR {
  std::vector<Schedule> schedules;
  std::vector<std::int64_t> milestones;  ///< One fewer.

  std::unique_ptr<ScheduleRule> make_rule() const;
};

/// All at once: each changes what the one before makes of the rate. Factors multiply, as in
/// PyTorch's ChainedScheduler. A metric goes to all.
struct ChainedLR {
  std::vector<Schedule> schedules;

  std::unique_ptr<ScheduleRule> make_rule() const;
};

}  // namespace muster
