#include "topology/topology.hpp"

#include "text.hpp"
#include "topology/cpu_list.hpp"

#include <algorithm>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

std::vector<int> nodes_with(const Sysroot& root, const std::vector<int>& cpus) {
  const std::string above = "/sys/devices/system/node/";
  const auto online = parse_cpu_list(root.read(above + "online").value_or(""));
  auto nodes = online.value_or(std::vector<int>());
  if (nodes.size() < 2) return nodes;  // Nothing to choose from: their lists need not be read.
  std::erase_if(nodes, [&](int node) {
    const auto list = root.read(above + "node" + std::to_string(node) + "/cpulist");
    return intersect(parse_cpu_list(list.value_or("")).value_or(std::vector<int>()), cpus).empty();
  });
  return nodes;
}

std::vector<int> nodes_of_memory(const Sysroot& root) {
  const auto status = root.read("/proc/self/status").value_or("");
  return parse_cpu_list(field(status, "Mems_allowed_list")).value_or(std::vector<int>());
}

bool has_memory_policy() {
  int mode = MPOL_DEFAULT;
  return ::syscall(SYS_get_mempolicy, &mode, nullptr, 0, nullptr, 0) == 0 && mode != MPOL_DEFAULT;
}

}  // namespace

Topology discover(const Sysroot& root, NvmlUse nvml) {
  Topology topology;
  topology.host = root.read("/proc/sys/kernel/hostname").value_or("localhost");
  topology.host.resize(std::min(topology.host.find('.'), topology.host.size()));
  topology.cpus = discover_cpus(root, Cgroups(root));
  topology.nvidia = discover_nvidia(root, nvml);
  topology.nodes = nodes_with(root, topology.cpus.allowed);
  topology.memory_nodes = nodes_of_memory(root);
  topology.memory_policy = root.is_live() && has_memory_policy();
  return topology;
}

}  // namespace muster::launcher
