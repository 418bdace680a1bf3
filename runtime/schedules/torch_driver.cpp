#include <muster/error.hpp>

#include "optimizer_rates.hpp"
#include "schedule_check.hpp"
#include "scheduler_driver.hpp"

#include <torch/optim/schedulers/lr_scheduler.h>
#include <torch/optim/schedulers/reduce_on_plateau_scheduler.h>

#include <algorithm>
#include <string>
#include <utility>

namespace muster {
namespace {

using torch::optim::LRScheduler;

/// Lets us see what LibTorch shows to derived classes only.
struct Seen : LRScheduler {
  static std::vector<double> rates(const LRScheduler& scheduler) {
    return (scheduler.*(&Seen::get_current_lrs))();
  }
  static unsigned& step_count(LRScheduler& scheduler) { return scheduler.*(&Seen::step_count_); }
};

/// Of keys that begin with "own." in the stored state.
constexpr std::string_view own = "own.";

class TorchDriver final : public SchedulerDriver {
 public:
  TorchDriver(torch::optim::Optimizer& optimizer, TorchScheduler scheduler)
      : optimizer_(optimizer), scheduler_(std::move(scheduler)) {}

  const void* identity() const override { return scheduler_.object.get(); }
  void step(std::int64_t /*step*/) override { scheduler_.object->step(); }

  void save(SchedulerState& state) const override {
    state["step_count"] = {static_cast<double>(Seen::step_count(*scheduler_.object))};
    for (const auto& group : read_rates(optimizer_)) state["lr"].push_back(group.lr);
    if (!scheduler_.save) return;
    for (auto& [name, values] : scheduler_.save()) {
      state[std::string(own) + name] = values;
    }
  }

  void load(const SchedulerState& state, std::int64_t /*step*/) override {
    auto rates = read_rates(optimizer_);
    const auto& lr = state_values(state, "lr", rates.size());
    const auto count = state_values(state, "step_count", 1).front();
    for (std::size_t group = 0; group < rates.size(); ++group) rates[group] = {lr[group], {}};
    if (scheduler_.load) {
      SchedulerState inner;
      for (const auto& [name, values] : state) {
        if (name.starts_with(own)) inner[name.substr(own.size())] = values;
      }
      scheduler_.load(inner);
    }
    Seen::step_count(*scheduler_.object) = static_cast<unsigned>(count);
    write_rates(optimizer_, rates);
  }

 private:
  torch::optim::Optimizer& optimizer_;
  TorchScheduler scheduler_;
};

class PlateauDriver final : public SchedulerDriver {
 public:
  explicit PlateauDriver(TorchPlateau plateau) : plateau_(std::move(plateau)) {}

  bool takes_steps() const override { return false; }
  bool takes_metric() const override { return true; }
  const void* identity() const override { return plateau_.object.get(); }
  void step(std::int64_t /*step*/) override {}
  void observe(double metric, std::int64_t /*step*/) override {
    plateau_.object->step(static_cast<float>(metric));
  }
  void save(SchedulerState& /*state*/) const override { refuse(); }
  void load(const SchedulerState& /*state*/, std::int64_t /*step*/) override { refuse(); }

 private:
  [[noreturn]] static void refuse() {
    throw UnsupportedError(
        "torch::optim::ReduceLROnPlateauScheduler keeps its state to itself, so it cannot be "
        "stored "
        "or loaded: muster::ReduceLROnPlateau does the same and can");
  }
  TorchPlateau plateau_;
};

}  // namespace

std::unique_ptr<SchedulerDriver> drive(torch::optim::Optimizer& optimizer,
                                       TorchScheduler scheduler) {
  if (!scheduler.object) throw ConfigError("the scheduler is null");
  if (!moves(*scheduler.object, optimizer)) {
    throw ConfigError(
        "the torch::optim::LRScheduler was made for another optimizer than the one it is given "
        "with");
  }
  return std::make_unique<TorchDriver>(optimizer, std::move(scheduler));
}

std::unique_ptr<SchedulerDriver> drive(torch::optim::Optimizer& /*optimizer*/,
                                       TorchPlateau plateau) {
  if (!plateau.object) throw ConfigError("the scheduler is null");
  return std::make_unique<PlateauDriver>(std::move(plateau));
}

// It does not tell which optimizer it has, but shows that one's rates.
bool moves(torch::optim::LRScheduler& scheduler, torch::optim::Optimizer& optimizer) {
  auto rates = read_rates(optimizer);
  if (rates.empty()) return false;
  const double kept = rates.front().lr;
  const double mark = kept + 1;
  for (auto& group : rates) group.momentum.reset();
  rates.front().lr = mark;
  write_rates(optimizer, rates);
  const auto seen = Seen::rates(scheduler);
  rates.front().lr = kept;
  write_rates(optimizer, rates);
  return seen.size() == rates.size() && seen.front() == mark;
}

}  // namespace muster
