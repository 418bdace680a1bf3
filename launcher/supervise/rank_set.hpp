#pragma once

#include <muster/number_ranges.hpp>

#include <string>

namespace muster::launcher {

/// Some of the ranks of a job: "all", "none", or a list such as "0,3-5".
class RankSet {
 public:
  /// Throws ConfigError, which names `option`, for another text and for ranks that the world lacks.
  static RankSet parse(const std::string& text, int world_size, const std::string& option);

  bool contains(int rank) const noexcept { return ranks_.contains(rank); }

 private:
  NumberRanges ranks_;
};

}  // namespace muster::launcher
