#pragma once

#include "diagnose/hang_facts.hpp"
#include "diagnose/snapshot.hpp"

namespace muster::launcher {

/// Sets `python` of a rank that runs Python, by py-spy if that is found in PATH or beside the
/// interpreter. Does nothing for other programs, and leaves nothing running after `deadline`.
void read_python(RankState& rank, Deadline deadline);

}  // namespace muster::launcher
