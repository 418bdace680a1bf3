#pragma once

#include <muster/settings.hpp>

#include "supervise.hpp"

namespace muster::launcher {

/// Whether the ranks of a job are started again after one of them failed. Never after a signal, a
/// deadline, a lost guardian or a start that was not possible, and never while something of the
/// failed start is left.
bool may_restart(const LaunchSettings& settings, const Outcome& outcome, int restart_count);

}  // namespace muster::launcher
