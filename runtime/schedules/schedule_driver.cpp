#include <muster/error.hpp>

#include "optimizer_rates.hpp"
#include "schedule_check.hpp"
#include "scheduler_driver.hpp"

#include <algorithm>
#include <utility>

namespace muster {
namespace {

class ScheduleDriver final : public SchedulerDriver {
 public:
  ScheduleDriver(torch::optim::Optimizer& optimizer, Schedule schedule)
      : optimizer_(optimizer), schedule_(std::move(schedule)), base_(read_rates(optimizer)) {
    schedule_->require_groups(base_.size());
    if (schedule_->cycles_momentum()) require_momentum();
    apply(0);
  }

  bool takes_steps() const override { return schedule_->takes_steps(); }
  bool takes_metric() const override { return schedule_->takes_metric(); }
  bool owns_rates() const override { return true; }
  void step(std::int64_t step) override { apply(step); }
  void observe(double metric, std::int64_t step) override {
    schedule_->observe(metric, step);
    apply(step);
  }

  void save(SchedulerState& state) const override {
    for (const auto& group : base_) {
      state["base_lr"].push_back(group.lr);
      if (schedule_->cycles_momentum()) state["base_momentum"].push_back(*group.momentum);
    }
    schedule_->save(state, "");
  }

  void load(const SchedulerState& state, std::int64_t step) override {
    auto schedule = schedule_;
    auto base = base_;
    const auto& lr = state_values(state, "base_lr", base.size());
    for (std::size_t group = 0; group < base.size(); ++group) base[group].lr = lr[group];
    if (schedule->cycles_momentum()) {
      const auto& momentum = state_values(state, "base_momentum", base.size());
      for (std::size_t group = 0; group < base.size(); ++group) {
        base[group].momentum = momentum[group];
      }
    }
    schedule->load(state, "");
    schedule_ = std::move(schedule);
    base_ = std::move(base);
    apply(step);
  }

 private:
  void require_momentum() const {
    if (std::ranges::all_of(base_, [](const auto& group) { return group.momentum.has_value(); })) {
      return;
    }
    throw ConfigError(
        "OneCycleLR: cycle_momentum needs an optimizer with momentum or beta1 (SGD, RMSprop, Adam, "
        "AdamW): set it to false for this one");
  }

  void apply(std::int64_t step) {
    auto rates = base_;
    for (std::size_t group = 0; group < rates.size(); ++group) {
      rates[group] = schedule_->rates({step, group}, base_[group]);
      // What the schedule leaves alone the program may change.
      if (!schedule_->cycles_momentum()) rates[group].momentum.reset();
    }
    write_rates(optimizer_, rates);
  }

  torch::optim::Optimizer& optimizer_;
  Schedule schedule_;
  std::vector<GroupRates> base_;  ///< As the program made the optimizer.
};

class CallbackDriver final : public SchedulerDriver {
 public:
  explicit CallbackDriver(StepCallback callback) : function_(std::move(callback.function)) {
    if (!function_) throw ConfigError("the scheduler's function is empty");
    function_(0);
  }
  void step(std::int64_t step) override { function_(step); }
  void load(const SchedulerState& /*state*/, std::int64_t step) override { function_(step); }

 private:
  std::function<void(std::int64_t)> function_;
};

}  // namespace

std::unique_ptr<SchedulerDriver> drive(torch::optim::Optimizer& optimizer, Schedule schedule) {
  return std::make_unique<ScheduleDriver>(optimizer, std::move(schedule));
}

std::unique_ptr<SchedulerDriver> drive(torch::optim::Optimizer& /*optimizer*/,
                                       StepCallback callback) {
  return std::make_unique<CallbackDriver>(std::move(callback));
}

std::unique_ptr<SchedulerDriver> make_driver(torch::optim::Optimizer& optimizer,
                                             SchedulerSource source) {
  return std::visit([&](auto& alternative) { return drive(optimizer, std::move(alternative)); },
                    source);
}

}  // namespace muster
