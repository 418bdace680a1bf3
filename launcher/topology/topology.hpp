#pragma once

#include "topology/cpus.hpp"
#include "topology/nvidia.hpp"
#include "topology/sysroot.hpp"

#include <string>

namespace muster::launcher {

/// What a launch needs to know of this host.
struct Topology {
  std::string host;  ///< Its name, without the domain.
  Cpus cpus;
  NvidiaDevices nvidia;
};

/// Reads what a plain launch needs, in under a millisecond on a usual host: no library, and no
/// driver call except what `nvml` allows.
Topology discover(const Sysroot& root, NvmlUse nvml);

}  // namespace muster::launcher
