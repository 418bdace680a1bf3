#pragma once

#include "topology/cpus.hpp"
#include "topology/layout.hpp"
#include "topology/nvidia.hpp"
#include "topology/sysroot.hpp"

#include <optional>
#include <string>
#include <vector>

namespace muster::launcher {

/// What a launch needs to know of this host.
struct Topology {
  std::string host;  ///< Its name, without the domain.
  Cpus cpus;
  NvidiaDevices nvidia;
  std::vector<int> nodes;         ///< NUMA nodes that have CPUs we may use; none: not told.
  std::vector<int> memory_nodes;  ///< NUMA nodes whose memory we may use.
  bool memory_policy = false;     ///< Whoever started us has chosen nodes already (numactl).
  std::optional<Layout> layout;   ///< Only where it was asked for: it takes milliseconds.
};

/// Reads what a plain launch needs, in under a millisecond on a usual host: no library, and no
/// driver call except what `nvml` allows.
Topology discover(const Sysroot& root, NvmlUse nvml);

}  // namespace muster::launcher
