#include "rank_set.hpp"

#include <muster/error.hpp>

#include "text.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace muster::launcher {
namespace {

std::optional<std::pair<int, int>> range_of(std::string_view part) {
  const auto dash = part.find('-');
  const auto first = to_number<int>(trim(part.substr(0, dash)));
  const auto last =
      dash == std::string_view::npos ? first : to_number<int>(trim(part.substr(dash + 1)));
  if (!first || !last || *first < 0 || *first > *last) return std::nullopt;
  return std::pair{*first, *last};
}

}  // namespace

RankSet RankSet::parse(const std::string& text, int world_size, const std::string& option) {
  RankSet set;
  if (text == "none") return set;
  if (text == "all") {
    set.ranges_.emplace_back(0, world_size - 1);
    return set;
  }
  for (const std::string_view part : split(text, ',')) {
    const auto range = range_of(part);
    if (!range) {
      throw ConfigError(option + " '" + text +
                        "': expected all, none, or ranks such as 0,3-5; found '" +
                        std::string(part) + "'");
    }
    if (range->second >= world_size) {
      throw ConfigError(option + " '" + text + "': there is no rank " +
                        std::to_string(range->second) + "; the job has ranks 0 to " +
                        std::to_string(world_size - 1));
    }
    set.ranges_.push_back(*range);
  }
  if (set.ranges_.empty())
    throw ConfigError(option + " '" + text + "': expected all, none, or ranks such as 0,3-5");
  return set;
}

bool RankSet::contains(int rank) const noexcept {
  return std::ranges::any_of(
      ranges_, [rank](const auto& range) { return range.first <= rank && rank <= range.second; });
}

}  // namespace muster::launcher
