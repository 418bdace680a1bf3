#pragma once

#include <muster/resolve.hpp>
#include <muster/world.hpp>

#include "arguments/command_line.hpp"

namespace muster::launcher {

/// Where a command takes its settings from: its flags, the environment, --config and --no-config.
Sources sources_of(const CommandLine& line, const Environment& environment);

}  // namespace muster::launcher
