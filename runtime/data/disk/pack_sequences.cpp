#include <muster/error.hpp>
#include <muster/sequence_packing.hpp>

#include <algorithm>
#include <numeric>
#include <string>

namespace muster {
namespace {

/// Rows that have room left, by how much.
class OpenRows {
 public:
  explicit OpenRows(std::int64_t capacity) : capacity_(capacity) {}

  /// The row with the least room that still takes `length`; a new one if there is none.
  std::size_t take(std::int64_t length) {
    const auto best = rows_.lower_bound(length);
    const std::int64_t room = best == rows_.end() ? capacity_ : best->first;
    std::size_t row = count_;
    if (best == rows_.end()) {
      ++count_;
    } else {
      row = best->second.back();
      best->second.pop_back();
      if (best->second.empty()) rows_.erase(best);
    }
    if (room > length) rows_[room - length].push_back(row);
    return row;
  }

 private:
  std::int64_t capacity_;
  std::size_t count_ = 0;
  std::map<std::int64_t, std::vector<std::size_t>> rows_;
};

}  // namespace

std::vector<std::vector<std::int64_t>> pack_sequences(std::span<const std::int64_t> lengths,
                                                      std::int64_t capacity) {
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 1 || lengths[i] > capacity) {
      throw ConfigError("pack_sequences: sequence " + std::to_string(i) + " is " +
                        std::to_string(lengths[i]) + " long; expected 1 to " +
                        std::to_string(capacity));
    }
  }
  std::vector<std::size_t> longest_first(lengths.size());
  std::iota(longest_first.begin(), longest_first.end(), 0);
  std::ranges::stable_sort(longest_first, std::greater(),
                           [&](std::size_t i) { return lengths[i]; });
  OpenRows open(capacity);
  std::vector<std::vector<std::int64_t>> rows;
  for (const std::size_t sequence : longest_first) {
    const std::size_t row = open.take(lengths[sequence]);
    if (row == rows.size()) rows.emplace_back();
    rows[row].push_back(static_cast<std::int64_t>(sequence));
  }
  for (auto& row : rows) std::ranges::sort(row);
  return rows;
}

}  // namespace muster
