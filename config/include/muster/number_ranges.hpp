#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

/// Whole numbers and ranges of them, as settings write them: "0,3-5". Nothing has more than an
/// int's digits, and spaces around a number do not count.
class NumberRanges {
 public:
  using Range = std::pair<int, int>;  ///< First and last.

  /// Nothing for another text, an empty one among them.
  static std::optional<NumberRanges> parse(std::string_view text);

  /// In the order of the text.
  const std::vector<Range>& ranges() const noexcept { return ranges_; }
  bool contains(int number) const noexcept;
  /// The largest number.
  int highest() const noexcept;

 private:
  std::vector<Range> ranges_;
};

}  // namespace muster
