#pragma once

#include <string>
#include <utility>
#include <vector>

namespace muster::launcher {

/// Some of the ranks of a job: "all", "none", or a list such as "0,3-5".
class RankSet {
 public:
  /// Throws ConfigError, which names `option`, for another text and for ranks that the world lacks.
  static RankSet parse(const std::string& text, int world_size, const std::string& option);

  bool contains(int rank) const noexcept;

 private:
  std::vector<std::pair<int, int>> ranges_;  ///< First and last.
};

}  // namespace muster::launcher
