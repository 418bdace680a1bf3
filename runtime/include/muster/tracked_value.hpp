#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace muster {

/// A number, a truth value or a text, converted from what a program has at hand.
class TrackedValue {
 public:
  using Variant = std::variant<bool, std::int64_t, double, std::string>;

  // NOLINTBEGIN(google-explicit-constructor): lists of names and values read as such.
  template <class T>
    requires std::is_arithmetic_v<T>
  TrackedValue(T value) : value_(number(value)) {}
  TrackedValue(std::string text) : value_(std::move(text)) {}
  TrackedValue(std::string_view text) : value_(std::string(text)) {}
  TrackedValue(const char* text) : value_(std::string(text)) {}
  // NOLINTEND(google-explicit-constructor)

  const Variant& get() const noexcept { return value_; }
  const std::string* text() const noexcept { return std::get_if<std::string>(&value_); }
  bool is_number() const noexcept { return text() == nullptr; }
  /// As the nearest double; of a truth value 0 or 1; of a text 0.
  double number() const noexcept {
    if (const auto* truth = std::get_if<bool>(&value_)) return *truth ? 1 : 0;
    if (const auto* whole = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*whole);
    const auto* real = std::get_if<double>(&value_);
    return real == nullptr ? 0 : *real;
  }
  bool operator==(const TrackedValue&) const = default;

 private:
  template <class T>
  static Variant number(T value) {
    if constexpr (std::same_as<T, bool>) {
      return value;
    } else if constexpr (std::is_integral_v<T>) {
      if (std::in_range<std::int64_t>(+value)) return static_cast<std::int64_t>(value);
      return static_cast<double>(value);
    } else {
      return static_cast<double>(value);
    }
  }

  Variant value_;
};

}  // namespace muster
