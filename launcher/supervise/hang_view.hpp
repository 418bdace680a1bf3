#pragma once

#include "diagnose/hang_facts.hpp"
#include "supervise/control_server.hpp"
#include "supervise/job_facts.hpp"

namespace muster::launcher {

/// What is known at once of all ranks of this host: how they are, and what they say; not their
/// stacks.
HangFacts hang_view(const JobFacts& facts, const ControlServer& control, int world_size);

}  // namespace muster::launcher
