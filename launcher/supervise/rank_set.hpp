#pragma once

#include <muster/number_ranges.hpp>

#include <string>

namespace muster::launcher {

/// Some of the ranks of a job: "all", "none", or a list such as "0,3-5".
class RankSet {
 public:
  /// Throws ConfigError, which names `option`, for another text and for ranks that the world lacks.
  static RankSet parse(const std::string& text, int world_size, const std::string& option);

  /// The same ranks, counted from `first`, the first one of a host.
  RankSet from(int first) const {
    RankSet set = *this;
    set.first_ += first;
    return set;
  }
  bool contains(int rank) const noexcept { return ranks_.contains(rank + first_); }

 private:
  NumberRanges ranks_;
  int first_ = 0;
};

}  // namespace muster::launcher
