#pragma once

#include "devices/cpu/narrow.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace muster::cpu {

/// One element in the type that it is computed in.
template <class Wide, class Element>
MUSTER_INLINE Wide load(Element value) noexcept {
  if constexpr (std::is_same_v<Element, Bfloat16> || std::is_same_v<Element, Float16>) {
    return static_cast<Wide>(widen(value));
  } else {
    return static_cast<Wide>(value);
  }
}

template <class Element, class Wide>
MUSTER_INLINE Element store(Wide value) noexcept {
  if constexpr (std::is_same_v<Element, Bfloat16>) {
    return to_bfloat16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<Element, Float16>) {
    return to_float16(static_cast<float>(value));
  } else {
    return static_cast<Element>(value);
  }
}

/// Unsigned and no narrower than int, so that arithmetic wraps around.
template <class T>
using Wrapping = std::common_type_t<std::make_unsigned_t<T>, unsigned>;

struct Sum {
  template <class T>
  MUSTER_INLINE static T apply(T a, T b) noexcept {
    if constexpr (std::is_same_v<T, bool>) {
      return a || b;
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    } else {
      return a + b;
    }
  }
};

struct Product {
  template <class T>
  MUSTER_INLINE static T apply(T a, T b) noexcept {
    if constexpr (std::is_same_v<T, bool>) {
      return a && b;
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    } else {
      return a * b;
    }
  }
};

struct Min {
  template <class T>
  MUSTER_INLINE static T apply(T a, T b) noexcept {
    return (b < a || b != b) ? b : a;  // NOLINT(misc-redundant-expression): b != b is NaN.
  }
};

struct Max {
  template <class T>
  MUSTER_INLINE static T apply(T a, T b) noexcept {
    return (b > a || b != b) ? b : a;  // NOLINT(misc-redundant-expression): b != b is NaN.
  }
};

}  // namespace muster::cpu
