#pragma once

#include <muster/logged_item.hpp>
#include <muster/ranks.hpp>
#include <muster/time_spent.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace muster {

/// What a rank's time went to, in seconds; the parts are the whole.
struct StepTime {
  double data = 0;           ///< Waiting for the data loader.
  double compute = 0;        ///< What is none of the others.
  double communication = 0;  ///< Waiting for other ranks; what overlaps with compute is not in it.
  double update = 0;         ///< In the optimizer's step.

  double total() const noexcept { return data + compute + communication + update; }
  /// What the rank did itself: the slow one has the most of it, the others wait.
  double own() const noexcept { return data + compute + update; }
};

struct StepTimerOptions {
  double flops_per_sample = 0;  ///< Forward and backward; 0: unknown, so no utilisation.
  double peak_flops = 0;        ///< A second, of one rank's device; 0: unknown.
};

/// The times of all ranks since the last report.
struct StepReport {
  std::vector<StepTime> ranks;
  std::int64_t steps = 0;
  int slowest = 0;                ///< The rank with the most time of its own.
  std::string slowest_because;    ///< "data", "compute" or "update": where it is most behind.
  double samples_per_second = 0;  ///< Of all ranks.
  double utilisation = 0;         ///< Of the devices' peak (MFU); NaN if unknown.
  double useful = 0;              ///< See StepTimer::useful_share().

  /// "12.3 ms a step: data 10 %, compute 70 %, ...; slowest is rank 2 (compute)"
  std::string to_text() const;
  /// time/data, time/compute, ... in seconds a step, for trackers.
  std::vector<LoggedItem> to_log() const;
};

/// Divides the time of training steps. Call step() once after each optimizer step, from the thread
/// that trains; it costs two readings of the clock.
class StepTimer {
 public:
  explicit StepTimer(const Ranks& ranks, StepTimerOptions options = {});

  /// The step that ends here began where the last one ended. samples: of this rank. A skipped one
  /// counts as time, not as useful.
  void step(std::int64_t samples = 0, bool skipped = false);
  const StepTime& last() const noexcept { return last_; }
  /// The share of time since the first start that went into steps which still count: what was lost
  /// are starts, restarts, skipped steps, evaluations, and, once load_state() has put back what a
  /// checkpoint knew, all steps after it.
  double useful_share() const;

  /// Collective; begins a new sum.
  StepReport report();

  /// What useful_share() needs, for a checkpoint.
  std::string state() const;
  /// Throws CheckpointError for what state() did not make.
  void load_state(const std::string& state);

 private:
  using Clock = std::chrono::steady_clock;
  Ranks ranks_;
  StepTimerOptions options_;
  Clock::time_point begin_;
  TimeSpent spent_;
  StepTime last_, sum_;
  std::int64_t steps_ = 0, samples_ = 0;
  double first_start_;  ///< Seconds since 1970.
  double useful_ = 0;
};

}  // namespace muster
