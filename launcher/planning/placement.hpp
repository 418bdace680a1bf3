#pragma once

#include <muster/settings.hpp>

#include "devices/choose_devices.hpp"
#include "topology/topology.hpp"

#include <string>
#include <vector>

namespace muster::launcher {

/// Where a rank runs.
struct RankPlace {
  std::vector<int> cpus;  ///< It may run on these only, ascending; empty: on all that are allowed.
  int memory_node = -1;   ///< The NUMA node that its memory comes from first; -1: no wish.
};

/// Where all ranks of this host run.
struct Placement {
  std::vector<RankPlace> ranks;  ///< By local rank; empty: nobody is bound.
  int cores = 0;     ///< Cores that the rank with the fewest has to itself; 0: nobody is bound.
  std::string note;  ///< What was asked for and cannot be had; else empty.
};

/// Whether placing `ranks` ranks needs the layout of the host, which takes milliseconds to read:
/// not where there is nothing to choose.
bool needs_layout(const LaunchSettings& settings, const Topology& topology, int ranks);

/// Obeys `bind`, within the CPUs that are allowed and never splitting a core:
/// `node`: a rank has the CPUs of one NUMA node, its device's if it has one, and that node's memory
/// first; ranks without a device are spread over the nodes by their cores. `core`: the ranks of a
/// node divide its cores. `auto`: `node` for several ranks on several nodes, else nothing; a rank
/// whose device has no known node stays free. `none`: nothing.
Placement place_ranks(const LaunchSettings& settings, const Topology& topology,
                      const DeviceChoice& devices, int ranks);

/// Threads of a rank, the same for all so that all compute alike: its part of the cores or of the
/// quota, and no more than the cores of the rank that has the fewest.
int threads_of(const Cpus& cpus, const Placement& placement, int ranks);

}  // namespace muster::launcher
