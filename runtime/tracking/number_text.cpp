#include "tracking/number_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

namespace muster::tracking {
namespace {

std::string general(double value, int digits) {
  std::array<char, 32> buffer{};
  const auto end =
      std::to_chars(buffer.begin(), buffer.end(), value, std::chars_format::general, digits);
  return {buffer.data(), end.ptr};
}

}  // namespace

std::string exact(double value) {
  // The sign of a NaN means nothing, and readers differ in whether they take it.
  if (std::isnan(value)) return "nan";
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.begin(), buffer.end(), value);
  return {buffer.data(), end.ptr};
}

std::string value_text(const TrackedValue& value) {
  struct Writer {
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    std::string operator()(std::int64_t whole) const { return std::to_string(whole); }
    std::string operator()(double real) const { return exact(real); }
    std::string operator()(const std::string& text) const { return text; }
  };
  return std::visit(Writer{}, value.get());
}

std::string short_number(double value, int digits) {
  if (!std::isfinite(value)) return exact(value);
  constexpr std::array<std::pair<double, std::string_view>, 4> units{
      {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}}};
  const double size = std::abs(value);
  for (const auto& [unit, name] : units) {
    // What rounds up to the unit is written in it; up to 10 k a number is read as it is.
    if (size >= 9999.5 && size >= unit * 0.99995 && size < 1e15) {
      return general(value / unit, digits).append(name);
    }
  }
  return general(value, digits);
}

}  // namespace muster::tracking
