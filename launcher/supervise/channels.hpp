#pragma once

#include "supervise/job_options.hpp"
#include "unique_fd.hpp"

#include <array>
#include <string>
#include <vector>

namespace muster::launcher {

/// One pipe or pseudo-terminal from a rank to us.
struct Channel {
  int rank = 0;
  int target = 1;          ///< Our descriptor to which it goes on: 1 or 2.
  bool terminal = false;   ///< It is a pseudo-terminal.
  bool has_error = false;  ///< It carries the rank's stderr.
  UniqueFd ours;
};

/// The channels of all ranks, made before anything is forked.
///
/// Several ranks have one for stdout and one for stderr, so that lines stay whole and the two
/// apart. A rank alone, without a prefix, writes to our stdout itself: nothing is copied, and it is
/// told of a reader that goes away. Its stderr still comes through us, for the last lines are
/// reported. A rank that has the terminal to itself (--wrap) has no channel. If both are the same
/// file or terminal, one channel carries both, which keeps their order. With log files there are
/// two channels always.
class Channels {
 public:
  /// Throws Error if there are no descriptors left.
  Channels(std::size_t ranks, const JobOptions& options);

  /// The rank's ends: stdout and stderr.
  std::array<int, 2> descriptors_of(std::size_t rank) const;
  /// Our copies of the ranks' ends; after the fork.
  void close_theirs() { theirs_.clear(); }
  std::vector<Channel>& all() noexcept { return channels_; }
  std::size_t ranks() const noexcept { return ends_.size(); }
  /// Our stdout and stderr lead to the same place.
  bool merged() const noexcept { return merged_; }
  /// The rank writes to our stdout itself.
  bool direct() const noexcept { return direct_; }

 private:
  int open(Channel channel, const std::string& prefix);

  bool merged_;
  bool direct_;
  std::vector<Channel> channels_;
  std::vector<UniqueFd> theirs_;
  std::vector<std::array<int, 2>> ends_;
};

}  // namespace muster::launcher
