#pragma once

#include <muster/tracker.hpp>

#include "tracking/series.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace muster::tracking {

/// What a report shows. Bounded, however long the run.
struct Report {
  struct Text {
    std::int64_t step;
    std::string name, text;
  };
  static constexpr std::size_t most_texts = 50, longest_text = 2000;

  std::string project;
  TrackedItems config;
  std::vector<Series> series;  ///< By their first value.
  std::deque<Text> texts;      ///< The newest.
  std::int64_t records = 0, last_step = 0;

  void add(const TrackedRecord& record);
  /// Drops what there is from `step` on: a run goes on from there.
  void cut(std::int64_t step);
};

/// As JSON that can stand inside a page.
std::string to_json(const Report& report);
/// Throws std::exception for anything else.
Report report_from_json(std::string_view text);

}  // namespace muster::tracking
