#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace muster::launcher {

/// The signs of life of one rank; times are of CLOCK_MONOTONIC.
struct Pulse {
  int rank = 0;
  std::uint64_t steps = 0;   ///< Done so far.
  std::int64_t last_ns = 0;  ///< The newest sign of life, of whatever kind.
  bool waiting = false;      ///< In a collective, for others.
  bool excused = false;      ///< It says that it is busy, or a debugger holds it.
};

/// A rank that stands still.
struct Stall {
  int rank = 0;
  std::int64_t since_ns = 0;
};

/// Whether the job stands still, and if it does not, when to look again.
struct StallCheck {
  std::optional<Stall> stall;
  std::int64_t look_again_ns = 0;
};

/// pulses: of the ranks that live. resumed_ns: when the job was last continued; nothing before that
/// counts. Nobody stands still before the first step, nor while one rank is excused, for the others
/// may wait for that one; nor does a rank that waits for others of which one still moves, or, if
/// these are not ranks of the whole job, may do so elsewhere.
StallCheck check_stall(const std::vector<Pulse>& pulses, std::int64_t now_ns,
                       std::int64_t resumed_ns, std::int64_t limit_ns, bool whole_job);

}  // namespace muster::launcher
