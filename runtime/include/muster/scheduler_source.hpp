#pragma once

#include <muster/schedule.hpp>
#include <muster/share.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

namespace torch::optim {
class LRScheduler;
class ReduceLROnPlateauScheduler;
}  // namespace torch::optim

namespace muster {

/// A scheduler of LibTorch, or one of the program that is derived from its base.
struct TorchScheduler {
  std::shared_ptr<torch::optim::LRScheduler> object;
  /// What it keeps of its own, if it says so: see KeepsState.
  std::function<SchedulerState()> save;
  std::function<void(const SchedulerState&)> load;
};

struct TorchPlateau {
  std::shared_ptr<torch::optim::ReduceLROnPlateauScheduler> object;
};

/// A function of the program that changes options as it likes.
struct StepCallback {
  std::function<void(std::int64_t step)> function;
};

/// What a Scheduler can be made of.
using SchedulerSource = std::variant<Schedule, TorchScheduler, TorchPlateau, StepCallback>;

template <class T>
concept TorchSchedulerLike =
    ObjectOf<T, torch::optim::LRScheduler> || PointerTo<T, torch::optim::LRScheduler>;
template <class T>
concept TorchPlateauLike = ObjectOf<T, torch::optim::ReduceLROnPlateauScheduler> ||
                           PointerTo<T, torch::optim::ReduceLROnPlateauScheduler>;
template <class T>
concept StepFunction = std::copy_constructible<T> && requires(T& function, std::int64_t step) {
  { function(step) } -> std::same_as<void>;
};

template <class T>
concept SchedulerOptions = std::same_as<T, Schedule> || AnySchedule<T> || TorchSchedulerLike<T> ||
                           TorchPlateauLike<T> || StepFunction<T>;

/// A scheduler of the program that has more to store than its step and its rates.
template <class T>
concept KeepsState = requires(T& scheduler, const SchedulerState& state) {
  { scheduler.state_dict() } -> std::convertible_to<SchedulerState>;
  scheduler.load_state_dict(state);
};

template <class T>
TorchScheduler torch_scheduler(T&& object) {
  TorchScheduler result;
  result.object = share<torch::optim::LRScheduler>(std::forward<T>(object));
  const auto keep_state = [&result]<class Own>(const Own* /*type*/) {
    if constexpr (KeepsState<Own>) {
      auto* const pointer = static_cast<Own*>(result.object.get());
      result.save = [pointer] { return pointer->state_dict(); };
      result.load = [pointer](const SchedulerState& state) { pointer->load_state_dict(state); };
    }
  };
  using Object = std::remove_cvref_t<T>;
  if constexpr (ObjectOf<Object, torch::optim::LRScheduler>) {
    keep_state(static_cast<const Object*>(nullptr));
  } else {
    keep_state(static_cast<const typename Object::element_type*>(nullptr));
  }
  return result;
}

template <class T>
  requires SchedulerOptions<std::remove_cvref_t<T>>
SchedulerSource scheduler_source(T&& object) {
  using Object = std::remove_cvref_t<T>;
  if constexpr (TorchSchedulerLike<Object>) {
    return torch_scheduler(std::forward<T>(object));
  } else if constexpr (TorchPlateauLike<Object>) {
    return TorchPlateau{share<torch::optim::ReduceLROnPlateauScheduler>(std::forward<T>(object))};
  } else if constexpr (std::same_as<Object, Schedule> || AnySchedule<Object>) {
    return Schedule(std::forward<T>(object));
  } else {
    return StepCallback{std::forward<T>(object)};
  }
}

}  // namespace muster
