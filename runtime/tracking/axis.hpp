#pragma once

#include <string>
#include <vector>

namespace muster::tracking {

/// A scale of a chart: the range that it shows, and where it is marked.
struct Axis {
  double low = 0, high = 1;  ///< low < high
  struct Mark {
    double at;
    std::string text;
  };
  std::vector<Mark> marks;  ///< Round numbers of the range.

  /// 0 at low, 1 at high.
  double place(double value) const noexcept;
};

/// For values from `least` to `most`, with a little room around them.
Axis value_axis(double least, double most);
/// The same for whole numbers, without room.
Axis step_axis(double first, double last);

}  // namespace muster::tracking
