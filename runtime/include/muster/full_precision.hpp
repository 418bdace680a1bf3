#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace c10 {
struct IValue;
}

namespace muster {

/// What a model returns, with float16 and bfloat16 tensors as float32; others are the same tensors.
at::Tensor in_full_precision(at::Tensor tensor);
/// Also inside lists, tuples and dictionaries; an object of a class of TorchScript stays as it is.
c10::IValue in_full_precision(const c10::IValue& value);

/// in_full_precision() finds the tensors in a T: in pairs, tuples, arrays, vectors, optionals and
/// maps of tensors, also nested. A struct of the program's own stays as it is.
template <class T>
inline constexpr bool holds_tensors = false;
template <>
inline constexpr bool holds_tensors<at::Tensor> = true;
template <>
inline constexpr bool holds_tensors<c10::IValue> = true;
template <class T>
inline constexpr bool holds_tensors<std::vector<T>> = holds_tensors<T>;
template <class T>
inline constexpr bool holds_tensors<std::optional<T>> = holds_tensors<T>;
template <class T, std::size_t n>
inline constexpr bool holds_tensors<std::array<T, n>> = holds_tensors<T>;
template <class K, class V>
inline constexpr bool holds_tensors<std::map<K, V>> = holds_tensors<V>;
template <class K, class V>
inline constexpr bool holds_tensors<std::unordered_map<K, V>> = holds_tensors<V>;
template <class A, class B>
inline constexpr bool holds_tensors<std::pair<A, B>> = holds_tensors<A> || holds_tensors<B>;
template <class... Ts>
inline constexpr bool holds_tensors<std::tuple<Ts...>> = (holds_tensors<Ts> || ...);

template <class T>
  requires(!std::same_as<T, at::Tensor> && !std::same_as<T, c10::IValue>)
T in_full_precision(T value);

/// Each part of `value` through in_full_precision().
template <class T>
void widen_parts(T& value) {
  const auto widen = [](auto& part) {
    if constexpr (holds_tensors<std::remove_cvref_t<decltype(part)>>) {
      part = in_full_precision(std::move(part));
    }
  };
  if constexpr (requires { value.has_value(); }) {
    if (value) widen(*value);
  } else if constexpr (requires { typename T::mapped_type; }) {
    for (auto& item : value) widen(item.second);
  } else if constexpr (requires { value.begin(); }) {
    for (auto& item : value) widen(item);
  } else {
    std::apply([&](auto&... parts) { (widen(parts), ...); }, value);
  }
}

template <class T>
  requires(!std::same_as<T, at::Tensor> && !std::same_as<T, c10::IValue>)
T in_full_precision(T value) {
  if constexpr (holds_tensors<T>) widen_parts(value);
  return value;
}

}  // namespace muster
