#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace muster {

/// An object or a pointer to one, as prepare() keeps it: an lvalue, also of std::unique_ptr, is
/// borrowed, and must outlive what it was given to; an rvalue of either is owned, and a
/// std::shared_ptr shared.
template <class Base, class T>
std::shared_ptr<Base> share(T&& object) {
  using Object = std::remove_cvref_t<T>;
  if constexpr (std::is_base_of_v<Base, Object>) {
    if constexpr (std::is_lvalue_reference_v<T>) {
      return std::shared_ptr<Base>(std::shared_ptr<void>(), &object);
    } else {
      return std::make_shared<Object>(std::forward<T>(object));
    }
  } else if constexpr (std::is_lvalue_reference_v<T> && !std::is_copy_constructible_v<Object>) {
    return std::shared_ptr<Base>(std::shared_ptr<void>(), object.get());
  } else {
    return std::shared_ptr<Base>(std::forward<T>(object));
  }
}

/// A class derived from `Base`, which may be incomplete.
template <class T, class Base>
concept ObjectOf = std::is_class_v<T> && std::is_base_of_v<Base, T>;
/// A std::unique_ptr or std::shared_ptr of one.
template <class T, class Base>
concept PointerTo = requires(const T& pointer) {
  { pointer.get() } -> std::convertible_to<Base*>;
};

}  // namespace muster
