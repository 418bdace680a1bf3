#include <muster/error.hpp>
#include <muster/mesh.hpp>
#include <muster/scheduler.hpp>

#include "prepared_scheduler.hpp"
#include "schedules/optimizer_rates.hpp"
#include "schedules/schedule_check.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <numeric>
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

/// In rank order, so that all ranks get the same bits.
double mean_over_ranks(const PreparedScheduler& scheduler, double metric) {
  if (!scheduler.optimizer || !scheduler.optimizer->mesh) return metric;
  const auto group = scheduler.optimizer->mesh->group("data");
  if (group->size() == 1) return metric;
  const auto options = at::TensorOptions(at::kDouble).device(group->device());
  const auto all = at::empty({group->size()}, options);
  group->all_gather(all, at::full({1}, metric, options), "scheduler.step").wait();
  const auto values = all.cpu();
  const auto* const first = values.const_data_ptr<double>();
  return std::accumulate(first, first + group->size(), 0.0) / group->size();
}

}  // namespace

void PreparedScheduler::follow(std::shared_ptr<PreparedOptimizer> prepared) {
  optimizer = std::move(prepared);
  seen = seen_by_metric = optimizer->steps;
}

Scheduler::Scheduler(std::shared_ptr<PreparedScheduler> prepared)
    : prepared_(std::move(prepared)) {}

Scheduler::Scheduler(torch::optim::Optimizer& optimizer, SchedulerSource source)
    : prepared_(std::make_shared<PreparedScheduler>(optimizer, std::move(source))) {}

Scheduler::Scheduler(const Optimizer& optimizer, SchedulerSource source)
    : Scheduler(*optimizer, std::move(source)) {
  prepared_->follow(optimizer.prepared_);
}

void Scheduler::step() {
  auto& driver = *prepared_->driver;
  if (!driver.takes_steps()) {
    throw ConfigError("a scheduler that waits for a plateau is moved by a metric: step(metric)");
  }
  if (!due(*prepared_, prepared_->seen)) return;
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
  driver.observe(mean_over_ranks(*prepared_, metric), prepared_->steps);
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
