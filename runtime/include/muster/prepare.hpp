#pragma once

#include <muster/adopter.hpp>
#include <muster/model.hpp>
#include <muster/optimizer.hpp>

#include <concepts>
#include <memory>
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

template <class T>
concept TorchOptimizer = std::is_class_v<T> && std::is_base_of_v<torch::optim::Optimizer, T>;

/// A std::unique_ptr or std::shared_ptr of an optimizer.
template <class T>
concept OptimizerPointer = requires(const T& pointer) {
  { pointer.get() } -> std::convertible_to<torch::optim::Optimizer*>;
};

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

/// An optimizer or a std::unique_ptr that is an lvalue is borrowed, and must outlive the handle; an
/// rvalue is owned by it, and a std::shared_ptr of either kind shared.
template <class T>
Optimizer take_optimizer(const Adopter& adopter, T&& object) {
  using Object = std::remove_cvref_t<T>;
  using Pointer = std::shared_ptr<torch::optim::Optimizer>;
  if constexpr (TorchOptimizer<Object>) {
    if constexpr (std::is_lvalue_reference_v<T>) {
      return adopter.adopt(Pointer(std::shared_ptr<void>(), &object));
    } else {
      return adopter.adopt(std::make_shared<Object>(std::forward<T>(object)));
    }
  } else if constexpr (std::is_lvalue_reference_v<T> && !std::is_copy_constructible_v<Object>) {
    return adopter.adopt(Pointer(std::shared_ptr<void>(), object.get()));
  } else {
    return adopter.adopt(Pointer(std::forward<T>(object)));
  }
}

template <class>
inline constexpr bool cannot_be_prepared = false;

/// One object of prepare(), as its handle.
template <class T>
auto take(const Adopter& adopter, T&& object) {
  using Object = std::remove_cvref_t<T>;
  if constexpr (Handle<Object>) {
    return object;
  } else if constexpr (AnyModule<Object>) {
    return take_model(adopter, object);
  } else if constexpr (TorchOptimizer<Object> || OptimizerPointer<Object>) {
    return take_optimizer(adopter, std::forward<T>(object));
  } else if constexpr (ShardableLoader<Object>) {
    auto part = adopter.part();
    return object.sharded(part.index, part.count, std::move(part.loop), part.device, part.seed);
  } else {
    static_assert(cannot_be_prepared<Object>,
                  "prepare() takes a std::shared_ptr of a module, a TORCH_MODULE holder, a "
                  "torch::jit::Module, an optimizer, or a muster::DataLoader");
  }
}

/// Models first, whatever the order, since optimizers need them; results in the order given.
template <class... Objects>
auto take_all(const Adopter& adopter, Objects&&... objects) {
  const auto introduce = [&adopter](const auto& object) {
    if constexpr (AnyModule<std::remove_cvref_t<decltype(object)>>) {
      take_model(adopter, object);
    }
  };
  (introduce(objects), ...);
  if constexpr (sizeof...(Objects) == 1) {
    return take(adopter, std::forward<Objects>(objects)...);
  } else {
    return std::tuple<decltype(take(adopter, std::forward<Objects>(objects)))...>{
        take(adopter, std::forward<Objects>(objects))...};
  }
}

}  // namespace muster
