#pragma once

#include <muster/resolve.hpp>
#include <muster/world.hpp>

#include "arguments/command_line.hpp"
#include "planning/make_plan.hpp"
#include "topology/topology.hpp"

namespace muster::launcher {

/// Throws ConfigError for a form of --dry-run that does not exist.
void check_dry_run(const CommandLine& line);

/// The machine to plan for: this one, with its layout where ranks are placed by it, or that of
/// --topology. Throws ConfigError if ranks would have to start on another one.
Topology host_of(const CommandLine& line, const Resolution& resolution,
                 const Environment& environment);

/// Prints the plan in the form that was asked for.
void print_dry_run(const CommandLine& line, const Resolution& resolution, const Topology& topology,
                   const Job& job);

}  // namespace muster::launcher
