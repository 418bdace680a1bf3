#include "rank_set.hpp"

#include <muster/error.hpp>

namespace muster::launcher {

RankSet RankSet::parse(const std::string& text, int world_size, const std::string& option) {
  RankSet set;
  if (text == "none") return set;
  const std::string last = std::to_string(world_size - 1);
  const auto ranks = NumberRanges::parse(text == "all" ? "0-" + last : text);
  if (!ranks)
    throw ConfigError(option + " '" + text + "': expected all, none, or ranks such as 0,3-5");
  if (ranks->highest() >= world_size) {
    throw ConfigError(option + " '" + text + "': there is no rank " +
                      std::to_string(ranks->highest()) + "; the job has ranks 0 to " + last);
  }
  set.ranks_ = *ranks;
  return set;
}

}  // namespace muster::launcher
