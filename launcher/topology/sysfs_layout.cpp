#include "topology/sysfs_layout.hpp"

#include "text.hpp"
#include "topology/cpu_list.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace muster::launcher {
namespace {

using CpuList = std::vector<int>;

CpuList cpu_list(const Sysroot& root, const std::string& path) {
  return parse_cpu_list(root.read(path).value_or("")).value_or(CpuList());
}

int number(const Sysroot& root, const std::string& path, int otherwise) {
  return to_number<int>(root.read(path).value_or("")).value_or(otherwise);
}

/// "32768K" of sysfs.
std::uint64_t cache_size(std::string_view text) {
  if (!text.ends_with('K')) return 0;
  text.remove_suffix(1);
  return to_number<std::uint64_t>(text).value_or(0) * 1024;
}

/// "Node 0 MemTotal:       24655540 kB"
std::uint64_t memory_of(const Sysroot& root, const std::string& folder) {
  const auto text = root.read(folder + "/meminfo").value_or("");
  for (const auto line : split(text, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() < 4 || words[2] != "MemTotal:") continue;
    return to_number<std::uint64_t>(words[3]).value_or(0) * 1024;
  }
  return 0;
}

/// At least one: kernels without NUMA tell none.
std::vector<Layout::NumaNode> read_nodes(const Sysroot& root, const CpuList& online) {
  const std::string above = "/sys/devices/system/node/";
  std::vector<Layout::NumaNode> nodes;
  for (const int id : cpu_list(root, above + "online")) {
    const auto folder = above + "node" + std::to_string(id);
    nodes.push_back(
        {id, intersect(cpu_list(root, folder + "/cpulist"), online), memory_of(root, folder)});
  }
  if (nodes.empty()) nodes.push_back({0, online, 0});
  if (nodes.size() == 1 && nodes.front().cpus.empty()) nodes.front().cpus = online;
  return nodes;
}

void add_cpus(const Sysroot& root, const CpuList& online, Layout& layout) {
  std::map<int, int> node_of;
  for (const auto& node : layout.nodes) {
    for (const int cpu : node.cpus) node_of[cpu] = node.id;
  }
  std::set<int> packages, seen;
  std::set<std::string> caches;
  for (const int cpu : online) {
    const auto folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
    const int package = number(root, folder + "/topology/physical_package_id", 0);
    packages.insert(package);
    const auto sharers = root.read(folder + "/cache/index3/shared_cpu_list");
    if (sharers && caches.insert(*sharers).second) {
      layout.cache_bytes += cache_size(root.read(folder + "/cache/index3/size").value_or(""));
    }
    if (seen.contains(cpu)) continue;
    auto siblings = intersect(cpu_list(root, folder + "/topology/thread_siblings_list"), online);
    if (siblings.empty()) siblings = {cpu};
    seen.insert(siblings.begin(), siblings.end());
    layout.cores.push_back({std::move(siblings), node_of[cpu], package});
  }
  layout.packages = static_cast<int>(packages.size());
  layout.threads = static_cast<int>(online.size());
}

/// The folder of a device is a link into the tree of bridges: ".../pci0000:00/0000:00:01.0/...".
Layout::PciPlace pci_place(const Sysroot& root, const std::string& address) {
  const auto folder = "/sys/bus/pci/devices/" + address;
  Layout::PciPlace place{address, number(root, folder + "/numa_node", -1), {}};
  const auto target = root.link_target(folder).value_or("");
  for (const auto part : split(target, '/')) {
    const bool is_device = part.find(':') != part.npos && part != address;
    if (is_device) place.above.emplace_back(part);
  }
  return place;
}

void add_pci(const Sysroot& root, Layout& layout) {
  for (const auto& address : root.list("/sys/bus/pci/devices")) {
    const auto kind = root.read("/sys/bus/pci/devices/" + address + "/class").value_or("");
    // Displays, accelerators and networks; the rest of a host's hundreds is of no interest.
    const bool wanted = kind.starts_with("0x03") || kind.starts_with("0x12") ||
                        kind.starts_with("0x02") || kind.starts_with("0x0b40");
    if (wanted) layout.pci.push_back(pci_place(root, address));
  }
  for (const auto& name : root.list("/sys/class/infiniband")) {
    const auto target = root.link_target("/sys/class/infiniband/" + name + "/device").value_or("");
    const auto address = target.substr(target.rfind('/') + 1);
    if (!address.empty()) layout.nics.push_back({name, address});
  }
}

}  // namespace

Layout sysfs_layout(const Sysroot& root) {
  auto online = cpu_list(root, "/sys/devices/system/cpu/online");
  if (online.empty()) online = {0};
  Layout layout;
  layout.nodes = read_nodes(root, online);
  add_cpus(root, online, layout);
  add_pci(root, layout);
  layout.source = "sysfs";
  sort_layout(layout);
  return layout;
}

}  // namespace muster::launcher
