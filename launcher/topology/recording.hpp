#pragma once

#include "topology/machine.hpp"

#include <string>

namespace muster::launcher {

/// A machine as one JSON text: hwloc's XML (`xml`; empty: the layout as we know it) and our facts.
std::string recording_of(const Machine& machine, const std::string& xml);

/// What recording_of wrote to a file. Throws ConfigError that names the file for one that is none.
Machine read_recording(const std::string& path);

/// Throws ConfigError that says what is different, if a plan for `recorded` would not be one for
/// `here`.
void check_same_machine(const std::string& path, const Topology& recorded, const Topology& here);

}  // namespace muster::launcher
