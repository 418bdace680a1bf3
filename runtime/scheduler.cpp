#include <muster/error.hpp>
#include <muster/scheduler.hpp>

#include "prepared_scheduler.hpp"
#include "rank_mean.hpp"
#include "schedules/optimizer_rates.hpp"
#include "schedules/schedule_check.hpp"

#include <utility>

namespace muster {
namespace {

/// True once for each number of updates.
bool due(const PreparedScheduler& scheduler, std::uint64_t& seen) {
  if (!scheduler.optimizer) return true;
  return std::exchange(seen, scheduler.optimizer->steps) != scheduler.optimizer->steps;
}

/// Of two that compute rates from where they began each undoes what the other does.
void require_alone(const std::shared_ptr<PreparedScheduler>& scheduler) {
  if (!scheduler->optimizer ||
      (!scheduler->driver->owns_rates() && scheduler->driver->identity() == nullptr)) {
    return;
  }
  auto& setter = scheduler->optimizer->rates_set_by;
  const auto other = setter.lock();
  if (other && other != scheduler &&
      (other->driver->owns_rates() || scheduler->driver->owns_rates())) {
    throw ModelError(
        "two schedulers set the rates of one optimizer: make one of both, with ChainedLR, "
        "SequentialLR or WarmupLR");
  }
  setter = scheduler;
}

}  // namespace

void PreparedScheduler::follow(std::shared_ptr<PreparedOptimizer> prepared) {
  optimizer = std::move(prepared);
  seen = seen_by_metric = optimizer->steps;
}

void PreparedScheduler::advance() {
  if (!due(*this, seen)) return;
  driver->step(steps + 1);
  ++steps;
}

void PreparedScheduler::observe(double metric) {
  if (due(*this, seen_by_metric)) driver->observe(metric, steps);
}

Scheduler::Scheduler(std::shared_ptr<PreparedScheduler> prepared)
    : prepared_(std::move(prepared)) {}

Scheduler::Scheduler(torch::optim::Optimizer& optimizer, SchedulerSource source)
    : prepared_(std::make_shared<PreparedScheduler>(optimizer, std::move(source))) {}

Scheduler::Scheduler(const Optimizer& optimizer, SchedulerSource source)
    : Scheduler(*optimizer, std::move(source)) {
  prepared_->follow(optimizer.prepared_);
  if (const auto& join = optimizer.prepared_->join) prepared_->number = join->add(prepared_);
}

void Scheduler::step() {
  auto& driver = *prepared_->driver;
  if (!driver.takes_steps()) {
    throw ConfigError("a scheduler that waits for a plateau is moved by a metric: step(metric)");
  }
  if (!due(*prepared_, prepared_->seen)) return;
  if (prepared_->tells()) {
    (void)prepared_->optimizer->join->tell(
        {.kind = JoinCall::Kind::scheduler_step, .object = prepared_->number});
  }
  require_alone(prepared_);
  driver.step(prepared_->steps + 1);
  ++prepared_->steps;
}

void Scheduler::step(double metric) {
  auto& driver = *prepared_->driver;
  if (!driver.takes_metric()) {
    throw ConfigError("step(metric): this schedule has no use for a metric; call step()");
  }
  if (!due(*prepared_, prepared_->seen_by_metric)) return;
  require_alone(prepared_);
  if (prepared_->tells()) {
    const JoinCall call{
        .kind = JoinCall::Kind::scheduler_metric, .object = prepared_->number, .value = metric};
    metric = Join::mean_metric(prepared_->optimizer->join->tell(call));
  } else if (const auto& optimizer = prepared_->optimizer) {
    metric = mean_over_ranks(*optimizer->mesh, metric, "scheduler.step");
  }
  driver.observe(metric, prepared_->steps);
}

std::int64_t Scheduler::steps() const noexcept { return prepared_->steps; }

std::vector<double> Scheduler::get_last_lr() const {
  std::vector<double> lr;
  for (const auto& group : read_rates(*prepared_->torch_optimizer)) lr.push_back(group.lr);
  return lr;
}

SchedulerState Scheduler::state_dict() const {
  SchedulerState state{{"steps", {static_cast<double>(prepared_->steps)}}};
  prepared_->driver->save(state);
  return state;
}

void Scheduler::load_state_dict(const SchedulerState& state) {
  const auto steps = static_cast<std::int64_t>(state_values(state, "steps", 1).front());
  prepared_->driver->load(state, steps);
  prepared_->steps = steps;
  if (prepared_->optimizer) prepared_->follow(prepared_->optimizer);
}

}  // namespace muster
