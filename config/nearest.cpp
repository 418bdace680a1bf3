#include <muster/nearest.hpp>

#include <algorithm>
#include <vector>

namespace muster {
namespace {

/// Short words have many neighbours by chance.
std::size_t tolerance(std::size_t length) {
  if (length <= 3) return 1;
  return length <= 8 ? 2 : 3;
}

}  // namespace

std::size_t edit_distance(std::string_view one, std::string_view other) {
  const std::size_t columns = other.size() + 1;
  std::vector<std::size_t> before_last(columns), last(columns), row(columns);
  for (std::size_t j = 0; j < columns; ++j) last[j] = j;
  for (std::size_t i = 1; i <= one.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j < columns; ++j) {
      const std::size_t change = one[i - 1] == other[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[other.size()];
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known) {
  constexpr std::size_t longest = 100;  // Nobody mistypes more; keeps odd input cheap.
  if (word.size() > longest) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_distance = tolerance(word.size()) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known,
                         std::string_view before, std::string_view after) {
  const auto meant = nearest(word, known);
  if (!meant) return "";
  return std::string("; did you mean ").append(before).append(*meant).append(after).append("?");
}

}  // namespace muster
