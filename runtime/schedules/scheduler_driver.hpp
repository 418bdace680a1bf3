#pragma once

#include <muster/schedule.hpp>
#include <muster/scheduler_source.hpp>

#include <cstdint>
#include <memory>

namespace torch::optim {
class Optimizer;
}

namespace muster {

/// Moves one optimizer's options. `step` counts from 1 for the first.
class SchedulerDriver {
 public:
  virtual ~SchedulerDriver() = default;

  virtual bool takes_steps() const { return true; }
  virtual bool takes_metric() const { return false; }
  /// It computes rates from where they began, so nothing else may set them.
  virtual bool owns_rates() const { return false; }
  /// The program's own object; null if there is none.
  virtual const void* identity() const { return nullptr; }

  virtual void step(std::int64_t step) = 0;
  virtual void observe(double metric, std::int64_t step) { (void)metric, (void)step; }
  virtual void save(SchedulerState& state) const { (void)state; }
  /// Goes on after `step` steps. Throws CheckpointError before anything was changed.
  virtual void load(const SchedulerState& state, std::int64_t step) = 0;
};

/// Throws ConfigError for a source that does not fit the optimizer, which must outlive the driver.
std::unique_ptr<SchedulerDriver> make_driver(torch::optim::Optimizer& optimizer,
                                             SchedulerSource source);

/// One a kind of source.
std::unique_ptr<SchedulerDriver> drive(torch::optim::Optimizer& optimizer, Schedule schedule);
std::unique_ptr<SchedulerDriver> drive(torch::optim::Optimizer& optimizer,
                                       TorchScheduler scheduler);
std::unique_ptr<SchedulerDriver> drive(torch::optim::Optimizer& optimizer, TorchPlateau plateau);
std::unique_ptr<SchedulerDriver> drive(torch::optim::Optimizer& optimizer, StepCallback callback);

/// `scheduler` was made for this optimizer.
bool moves(torch::optim::LRScheduler& scheduler, torch::optim::Optimizer& optimizer);

}  // namespace muster
