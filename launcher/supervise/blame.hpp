#pragma once

#include "supervise/tail.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// What is known of how one rank ended.
struct Evidence {
  int exit_code = 0;  ///< Its own, or 128 + signal; 0: it did not fail.
  int signal = 0;     ///< What it died of; 0: it exited.
  bool core_dumped = false;
  bool stopped_by_us = false;
  /// When the end was seen: the kernel may announce a large process late.
  std::int64_t end_ns = 0;
  std::optional<std::int64_t> death_record_ns;
  std::string reason;  ///< Of the death record.
  std::string text;    ///< The exception that ended it: of the same, or of what it printed last.
  std::vector<Tail::Line> stderr_lines;
};

/// The index of the rank that failed first; nothing if none failed.
///
/// A rank's failure is at the time of its death record; else of the first line of its last second
/// that looks like an error; else of its end, which a core dump delays. A rank that speaks of a
/// lost peer, that died of a closed pipe or that we stopped is a consequence, and named only if
/// there is no other. A rank that we stopped had failed by itself only if it said so before
/// `stopped_ns`, when we began.
std::optional<std::size_t> first_failure(std::span<const Evidence> ranks, std::int64_t stopped_ns);

/// When a rank that failed did so, as far as one can tell, and whether because another one had, or
/// because we stopped it.
struct FailureTime {
  std::int64_t monotonic_ns = 0;
  bool consequence = false;
};
FailureTime failure_time(const Evidence& rank, std::int64_t stopped_ns);
/// Whether a rank failed because it missed another one, as far as it says so.
bool is_for_want_of_a_peer(const Evidence& rank, std::int64_t stopped_ns);

/// Whether a line of stderr tells of a failure.
bool looks_like_error(std::string_view line);
/// Whether a text tells of a peer that went away.
bool looks_like_lost_peer(std::string_view text);

}  // namespace muster::launcher
