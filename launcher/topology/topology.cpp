#include "topology/topology.hpp"

#include "topology/cpu_list.hpp"

#include <algorithm>

namespace muster::launcher {

Topology discover(const Sysroot& root, NvmlUse nvml) {
  Topology topology;
  topology.host = root.read("/proc/sys/kernel/hostname").value_or("localhost");
  topology.host.resize(std::min(topology.host.find('.'), topology.host.size()));
  topology.cpus = discover_cpus(root, Cgroups(root));
  const auto nodes = parse_cpu_list(root.read("/sys/devices/system/node/online").value_or("0"));
  if (nodes && !nodes->empty()) topology.numa_nodes = static_cast<int>(nodes->size());
  topology.nvidia = discover_nvidia(root, nvml);
  return topology;
}

}  // namespace muster::launcher
