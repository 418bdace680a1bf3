#include <muster/accelerator.hpp>

#include "accelerator_state.hpp"
#include "late_tensor.hpp"
#include "tracking/now.hpp"

#include <torch/optim/optimizer.h>

#include <algorithm>
#include <chrono>

namespace muster {
namespace {

using tracking::LateItem;

/// The newest step of any prepared optimizer; nothing without one.
std::optional<std::int64_t> optimizer_steps(const AcceleratorState& state) {
  std::optional<std::int64_t> steps;
  for (const auto& kept : state.optimizers) {
    if (const auto optimizer = kept.lock()) {
      steps = std::max(steps.value_or(0), static_cast<std::int64_t>(optimizer->steps));
    }
  }
  return steps;
}

/// Of the first optimizer's first group.
std::optional<double> learning_rate(const AcceleratorState& state) {
  for (const auto& kept : state.optimizers) {
    const auto prepared = kept.lock();
    if (!prepared) continue;
    const auto& groups = prepared->optimizer->param_groups();
    if (groups.empty() || !groups.front().has_options()) return std::nullopt;
    try {
      return groups.front().options().get_lr();
    } catch (const c10::Error&) {
      return std::nullopt;  // An optimizer of the program's own need not have one.
    }
  }
  return std::nullopt;
}

/// What the program did not name itself.
void add_measured(AcceleratorState& state, std::int64_t step, std::vector<LateItem>& items) {
  const auto clock = std::chrono::steady_clock::now().time_since_epoch();
  TrackedItems measured = state.meter.measure(step, std::chrono::duration<double>(clock).count());
  if (const auto rate = learning_rate(state)) {
    measured.insert(measured.begin(), {"learning_rate", *rate});
  }
  for (auto& item : measured) {
    if (std::ranges::find(items, item.name, &LateItem::name) != items.end()) continue;
    items.push_back({std::move(item.name), std::move(item.value)});
  }
}

LateItem late_item(const LoggedItem& item) {
  if (const auto* tensor = std::get_if<at::Tensor>(&item.value.get())) {
    return {item.name, number_in(*tensor, item.name)};
  }
  return {item.name, std::get<TrackedValue>(item.value.get())};
}

}  // namespace

void Accelerator::init_trackers(const std::string& project, const TrackedItems& config,
                                const TrackerOptions& options) {
  end_trackers();
  const auto& train = state_->settings.settings().train;
  state_->trackers = std::make_unique<tracking::Trackers>(tracking::TrackersRequest{
      project, config, train.project_dir, train.log_with, options, process_index()});
  state_->meter = {};
}

void Accelerator::log(const std::vector<LoggedItem>& values, std::optional<std::int64_t> step) {
  auto* trackers = state_->trackers.get();
  if (trackers == nullptr || trackers->empty()) {
    // The fault is the program's own, and is to be seen wherever it runs.
    for (const auto& [name, value] : values) {
      if (const auto* tensor = std::get_if<at::Tensor>(&value.get())) check_number(*tensor, name);
    }
    return;
  }
  tracking::LateRecord record{0, tracking::now(), {}};
  const auto own = step ? step : optimizer_steps(*state_);
  record.step = own.value_or(trackers->last_step() + 1);
  for (const auto& item : values) record.items.push_back(late_item(item));
  if (trackers->options().measure && state_->meter.is_new(record.step)) {
    add_measured(*state_, record.step, record.items);
  }
  trackers->log(std::move(record));
}

Tracker& Accelerator::get_tracker(std::string_view name) {
  if (!state_->trackers) throw ConfigError("get_tracker: init_trackers was not called");
  return state_->trackers->find(name);
}

void Accelerator::end_trackers() {
  // Off the Accelerator first: what throws has ended all the same.
  const auto trackers = std::move(state_->trackers);
  if (trackers) trackers->finish();
}

}  // namespace muster
