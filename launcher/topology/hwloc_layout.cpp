#include "topology/hwloc_layout.hpp"

#include <muster/error.hpp>

#include "topology/hwloc_library.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace muster::launcher {
namespace {

/// Walks a topology and writes the layout down.
class Reader {
 public:
  Reader(const HwlocLibrary& hwloc, const HwlocTopology& topology)
      : hwloc_(hwloc), topology_(topology.get()) {}

  Layout read() {
    layout_.packages = std::max(1, count(HWLOC_OBJ_PACKAGE));
    layout_.threads = std::max(1, count(HWLOC_OBJ_PU));
    for_each(HWLOC_OBJ_L3CACHE, [&](hwloc_obj_t cache) {  //
      layout_.cache_bytes += cache->attr->cache.size;
    });
    for_each(HWLOC_OBJ_NUMANODE, [&](hwloc_obj_t node) {
      layout_.nodes.push_back(
          {static_cast<int>(node->os_index), {}, node->attr->numanode.local_memory});
    });
    // Hosts that tell no cores have CPUs at least.
    for_each(count(HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU,
             [&](hwloc_obj_t core) { add_core(core); });
    for_each(HWLOC_OBJ_PCI_DEVICE, [&](hwloc_obj_t device) { add_device(device); });
    for_each(HWLOC_OBJ_OS_DEVICE, [&](hwloc_obj_t device) { add_nic(device); });
    for (auto& node : layout_.nodes) std::ranges::sort(node.cpus);
    layout_.source = hwloc_.version();
    sort_layout(layout_);
    return std::move(layout_);
  }

 private:
  int count(hwloc_obj_type_t type) const {
    return static_cast<int>(
        hwloc_.get_nbobjs_by_depth(topology_, hwloc_.get_type_depth(topology_, type)));
  }

  template <class Visit>
  void for_each(hwloc_obj_type_t type, Visit visit) const {
    const int depth = hwloc_.get_type_depth(topology_, type);
    const auto objects = hwloc_.get_nbobjs_by_depth(topology_, depth);
    for (unsigned at = 0; at < objects; ++at) {
      visit(hwloc_.get_obj_by_depth(topology_, depth, at));
    }
  }

  std::vector<int> members(hwloc_const_bitmap_t bits) const {
    std::vector<int> numbers;
    for (int at = hwloc_.bitmap_next(bits, -1); at >= 0; at = hwloc_.bitmap_next(bits, at)) {
      numbers.push_back(at);
    }
    return numbers;
  }

  void add_core(hwloc_obj_t core) {
    const auto nodes = members(core->nodeset);
    const auto* package = core->parent;
    while (package != nullptr && package->type != HWLOC_OBJ_PACKAGE) package = package->parent;
    auto cpus = members(core->cpuset);
    // Where two kinds of memory are next to a core, the first is the plain one.
    const int id = nodes.empty() ? 0 : nodes.front();
    for (auto& node : layout_.nodes) {
      if (node.id == id) node.cpus.insert(node.cpus.end(), cpus.begin(), cpus.end());
    }
    layout_.cores.push_back(
        {std::move(cpus), id, package == nullptr ? 0 : static_cast<int>(package->os_index)});
  }

  template <class Attributes>
  static std::string address_of(const Attributes& pci) {
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", static_cast<unsigned>(pci.domain),
                       static_cast<unsigned>(pci.bus), static_cast<unsigned>(pci.dev),
                       static_cast<unsigned>(pci.func));
  }

  static std::string bridge_name(const hwloc_obj& bridge) {
    const auto& attributes = bridge.attr->bridge;
    if (attributes.upstream_type == HWLOC_OBJ_BRIDGE_PCI)
      return address_of(attributes.upstream.pci);
    return fmt::format("pci{:04x}:{:02x}", static_cast<unsigned>(attributes.downstream.pci.domain),
                       static_cast<unsigned>(attributes.downstream.pci.secondary_bus));
  }

  void add_device(hwloc_obj_t device) {
    Layout::PciPlace place;
    place.address = address_of(device->attr->pcidev);
    const auto* above = device->parent;
    for (; above != nullptr && above->type == HWLOC_OBJ_BRIDGE; above = above->parent) {
      place.above.insert(place.above.begin(), bridge_name(*above));
    }
    const auto nodes = above == nullptr ? std::vector<int>() : members(above->nodeset);
    // Under the whole machine it is next to every node: that says nothing.
    if (!nodes.empty() && nodes.size() < layout_.nodes.size()) place.node = nodes.front();
    layout_.pci.push_back(std::move(place));
  }

  void add_nic(hwloc_obj_t device) {
    if (device->attr->osdev.type != HWLOC_OBJ_OSDEV_OPENFABRICS || device->name == nullptr) return;
    const auto* above = device->parent;
    while (above != nullptr && above->type != HWLOC_OBJ_PCI_DEVICE) above = above->parent;
    layout_.nics.push_back({device->name, above == nullptr ? "" : address_of(above->attr->pcidev)});
  }

  const HwlocLibrary& hwloc_;
  hwloc_topology_t topology_;
  Layout layout_;
};

}  // namespace

std::optional<Layout> hwloc_layout() {
  const HwlocLibrary hwloc;
  if (!hwloc) return std::nullopt;
  const HwlocTopology topology(hwloc, nullptr);
  if (!topology) return std::nullopt;
  return Reader(hwloc, topology).read();
}

std::string hwloc_xml() {
  const HwlocLibrary hwloc;
  if (!hwloc) return "";
  const HwlocTopology topology(hwloc, nullptr);
  char* buffer = nullptr;
  int size = 0;
  if (!topology || hwloc.export_xmlbuffer(topology.get(), &buffer, &size, 0) != 0) return "";
  std::string xml(buffer);
  hwloc.free_xmlbuffer(topology.get(), buffer);
  return xml;
}

Layout layout_of_xml(const std::string& xml) {
  const HwlocLibrary hwloc;
  if (!hwloc) {
    throw ConfigError("was recorded by hwloc, which reads it: install libhwloc.so.15 (libhwloc15)");
  }
  const HwlocTopology topology(hwloc, &xml);
  if (!topology) throw ConfigError("holds XML that " + hwloc.version() + " does not take");
  return Reader(hwloc, topology).read();
}

}  // namespace muster::launcher
