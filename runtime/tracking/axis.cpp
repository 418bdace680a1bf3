#include "tracking/axis.hpp"

#include "tracking/number_text.hpp"

#include <algorithm>
#include <cmath>

namespace muster::tracking {
namespace {

/// 1, 2 or 5 times a power of ten, of which some six lie in `range`.
double round_distance(double range) {
  const double raw = range / 6;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  const double digit = raw / power * 0.999;
  return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

void mark(Axis& axis, double distance) {
  const double largest = std::max(std::abs(axis.low), std::abs(axis.high));
  // As many digits as tell neighbours apart.
  const int digits = std::clamp(static_cast<int>(std::log10(largest / distance)) + 2, 4, 15);
  const double first = std::ceil(axis.low / distance - 1e-9);
  for (int number = 0; number < 16; ++number) {
    double at = (first + number) * distance;
    if (std::abs(at) < distance / 1000) at = 0;
    if (at > axis.high + distance * 1e-9) break;
    axis.marks.push_back({at, short_number(at, digits)});
  }
}

}  // namespace

double Axis::place(double value) const noexcept {
  // Halves, for the range of two doubles may be more than a double holds.
  return (value / 2 - low / 2) / (high / 2 - low / 2);
}

Axis value_axis(double least, double most) {
  constexpr double largest = 1e300;
  least = std::clamp(least, -largest, largest);
  most = std::clamp(most, -largest, largest);
  const double size = std::max(std::abs(least), std::abs(most));
  double room = (most - least) * 0.05;
  // A constant, or so nearly one that marks could not tell its values apart.
  if (room <= size * 1e-12) room = size > 0 ? size * 0.1 : 1;
  Axis axis{least - room, most + room, {}};
  if (least >= 0 && axis.low < 0) axis.low = 0;
  mark(axis, round_distance(axis.high - axis.low));
  return axis;
}

Axis step_axis(double first, double last) {
  Axis axis{first, std::max(last, first + 1), {}};
  mark(axis, std::max(1.0, round_distance(axis.high - axis.low)));
  return axis;
}

}  // namespace muster::tracking
