#include "topology/topology.hpp"

#include <algorithm>

namespace muster::launcher {

Topology discover(const Sysroot& root, NvmlUse nvml) {
  Topology topology;
  topology.host = root.read("/proc/sys/kernel/hostname").value_or("localhost");
  topology.host.resize(std::min(topology.host.find('.'), topology.host.size()));
  topology.cpus = discover_cpus(root, Cgroups(root));
  topology.nvidia = discover_nvidia(root, nvml);
  return topology;
}

}  // namespace muster::launcher
