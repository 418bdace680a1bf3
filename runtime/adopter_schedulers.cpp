#include <muster/adopter.hpp>
#include <muster/error.hpp>

#include "accelerator_state.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace muster {
namespace {

/// Of a source that is the program's own object.
const void* identity_of(const SchedulerSource& source) {
  if (const auto* scheduler = std::get_if<TorchScheduler>(&source)) return scheduler->object.get();
  if (const auto* plateau = std::get_if<TorchPlateau>(&source)) return plateau->object.get();
  return nullptr;
}

[[noreturn]] void refuse_unprepared() {
  throw ModelError(
      "prepare: the scheduler's optimizer is not prepared: give prepare() the optimizer together "
      "with the scheduler, or before it. One that was moved into prepare() is another object: "
      "make the scheduler of the handle, muster::Scheduler(handle, ...)");
}

}  // namespace

Scheduler Adopter::adopt(const Scheduler& scheduler) const {
  auto& prepared = *scheduler.prepared_;
  const auto known = known_optimizers();
  const auto own = std::ranges::find_if(known, [&](const auto& optimizer) {
    return optimizer->optimizer.get() == prepared.torch_optimizer;
  });
  if (own == known.end()) refuse_unprepared();
  if (prepared.optimizer != *own) prepared.follow(*own);
  prepared.number = state_->join->add(scheduler.prepared_);
  auto& kept = state_->schedulers;
  std::erase_if(kept, [&](const auto& other) {
    const auto alive = other.lock();
    return !alive || alive == scheduler.prepared_;
  });
  kept.push_back(scheduler.prepared_);
  return scheduler;
}

Scheduler Adopter::adopt(SchedulerSource source) const {
  if (const auto* identity = identity_of(source)) {
    for (const auto& kept : state_->schedulers) {
      auto known = kept.lock();
      if (known && known->driver->identity() == identity) return Scheduler(std::move(known));
    }
  }
  const Optimizer optimizer(optimizer_for(source));
  return adopt(Scheduler(optimizer, std::move(source)));
}

std::shared_ptr<PreparedOptimizer> Adopter::optimizer_for(const SchedulerSource& source) const {
  const auto known = known_optimizers();
  if (const auto* scheduler = std::get_if<TorchScheduler>(&source)) {
    if (!scheduler->object) throw ModelError("prepare: the scheduler is null");
    const auto own = std::ranges::find_if(known, [&](const auto& optimizer) {
      return moves(*scheduler->object, *optimizer->optimizer);
    });
    if (own == known.end()) refuse_unprepared();
    return *own;
  }
  const auto& choice = optimizers_.empty() ? known : optimizers_;
  if (choice.size() == 1) return choice.front();
  throw ModelError("prepare: a schedule without an optimizer, and " +
                   std::to_string(choice.size()) +
                   " optimizers that it could be for: give muster::Scheduler(optimizer, schedule)");
}

}  // namespace muster
