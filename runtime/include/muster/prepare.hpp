#pragma once

#include <muster/adopter.hpp>
#include <muster/model.hpp>
#include <muster/optimizer.hpp>
#include <muster/scheduler.hpp>
#include <muster/scheduler_source.hpp>
#include <muster/share.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace muster {

/// A std::shared_ptr of a module.
template <class T>
concept SharedModule = requires(const T& pointer) {
  requires std::same_as<T, std::shared_ptr<typename T::element_type>>;
  requires std::is_base_of_v<torch::nn::Module, typename T::element_type>;
};

/// What TORCH_MODULE makes.
template <class T>
concept ModuleHolder = requires(const T& holder) {
  typename T::ContainedType;
  requires SharedModule<std::remove_cvref_t<decltype(holder.ptr())>>;
};

template <class T>
concept ScriptModule = std::same_as<T, torch::jit::Module>;

template <class T>
concept AnyModule = SharedModule<T> || ModuleHolder<T> || ScriptModule<T>;

/// Of Accelerator::prepare_model().
struct ModelOptions {
  bool evaluation_mode = false;
};

/// An optimizer, or a std::unique_ptr or std::shared_ptr of one.
template <class T>
concept AnyOptimizer =
    ObjectOf<T, torch::optim::Optimizer> || PointerTo<T, torch::optim::Optimizer>;

/// A DataLoader, which gives the part of rank `index` of `count`.
template <class T>
concept ShardableLoader = requires(const T& loader, const Adopter::Part& part) {
  { loader.sharded(part.index, part.count, part.loop, part.device, part.seed) } -> std::same_as<T>;
};

/// A handle that prepare() returned.
template <class T>
concept Handle = std::is_base_of_v<ModelHandle, T> || std::same_as<T, Optimizer>;

template <AnyModule T>
auto take_model(const Adopter& adopter, const T& object) {
  if constexpr (ScriptModule<T>) {
    return Model<T>(adopter.adopt(object), std::make_shared<T>(object));
  } else if constexpr (ModuleHolder<T>) {
    return take_model(adopter, object.ptr());
  } else {
    return Model<typename T::element_type>(
        adopter.adopt(std::shared_ptr<torch::nn::Module>(object)), object);
  }
}

template <class>
inline constexpr bool cannot_be_prepared = false;

/// One object of prepare(), as its handle.
template <class T>
auto take(Adopter& adopter, T&& object) {
  using Object = std::remove_cvref_t<T>;
  if constexpr (Handle<Object>) {
    return object;
  } else if constexpr (AnyModule<Object>) {
    return take_model(adopter, object);
  } else if constexpr (AnyOptimizer<Object>) {
    return adopter.adopt(share<torch::optim::Optimizer>(std::forward<T>(object)));
  } else if constexpr (std::same_as<Object, Scheduler>) {
    return adopter.adopt(object);
  } else if constexpr (ShardableLoader<Object>) {
    auto part = adopter.part();
    return object.sharded(part.index, part.count, std::move(part.loop), part.device, part.seed);
  } else if constexpr (SchedulerOptions<Object>) {
    return adopter.adopt(scheduler_source(std::forward<T>(object)));
  } else {
    static_assert(cannot_be_prepared<Object>,
                  "prepare() takes a std::shared_ptr of a module, a TORCH_MODULE holder, a "
                  "torch::jit::Module, an optimizer, a scheduler, a muster::DataLoader, or with "
                  "muster/torch_loader.hpp a loader of torch::data");
  }
}

template <class T>
using Taken = decltype(take(std::declval<Adopter&>(), std::declval<T>()));

/// Optimizers need their models, and schedulers their optimizers.
template <class T>
inline constexpr int turn_of = AnyModule<T>      ? 0
                               : AnyOptimizer<T> ? 1
                                                 : 2;

template <class T>
void take_at_turn(int turn, Adopter& adopter, T&& object, std::optional<Taken<T>>& taken) {
  if (turn == turn_of<std::remove_cvref_t<T>>) {
    taken.emplace(take(adopter, std::forward<T>(object)));
  }
}

/// Results in the order given.
template <class... Objects>
auto take_all(Adopter adopter, Objects&&... objects) {
  std::tuple<std::optional<Taken<Objects>>...> taken;
  for (const int turn : {0, 1, 2}) {
    std::apply(
        [&](auto&... slots) {
          (take_at_turn<Objects>(turn, adopter, std::forward<Objects>(objects), slots), ...);
        },
        taken);
  }
  if constexpr (sizeof...(Objects) == 1) {
    return std::move(*std::get<0>(taken));
  } else {
    return std::apply(
        [](auto&... slots) { return std::tuple<Taken<Objects>...>{std::move(*slots)...}; }, taken);
  }
}

}  // namespace muster
