#pragma once

#include "diagnose/hang_facts.hpp"
#include "diagnose/snapshot.hpp"

#include <cstdint>
#include <vector>

namespace muster::launcher {

/// Sets `threads`, or `unread`, of all ranks that live; also `python` of those that run Python,
/// where py-spy is installed. Blocks until `deadline` or a little longer. See take_snapshot() for
/// where it may be called.
void read_stacks(std::vector<RankState>& ranks, Deadline deadline);

/// Frames for the addresses that a rank told us itself.
void name_addresses(RankState& rank, const std::vector<std::uint64_t>& addresses,
                    Deadline deadline);

}  // namespace muster::launcher
