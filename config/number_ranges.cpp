#include <muster/number_ranges.hpp>

#include "text.hpp"

#include <algorithm>

namespace muster {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(" \t") + 1 - start);
}

std::optional<int> number_of(std::string_view text) {
  const auto word = trimmed(text);
  if (!is_number(word)) return std::nullopt;
  return static_cast<int>(*whole_number(word));
}

}  // namespace

std::optional<NumberRanges> NumberRanges::parse(std::string_view text) {
  NumberRanges numbers;
  for (const std::string_view part : split(text, ',')) {
    const auto dash = part.find('-');
    const auto first = number_of(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_of(part.substr(dash + 1));
    if (!first || !last || *first > *last) return std::nullopt;
    numbers.ranges_.emplace_back(*first, *last);
  }
  if (numbers.ranges_.empty()) return std::nullopt;
  return numbers;
}

bool NumberRanges::contains(int number) const noexcept {
  return std::ranges::any_of(ranges_, [number](const Range& range) {
    return range.first <= number && number <= range.second;
  });
}

int NumberRanges::highest() const noexcept {
  return std::ranges::max_element(ranges_, {}, &Range::second)->second;
}

}  // namespace muster
