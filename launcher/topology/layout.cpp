#include "topology/layout.hpp"

#include "topology/hwloc_layout.hpp"
#include "topology/sysfs_layout.hpp"

#include <algorithm>
#include <tuple>

namespace muster::launcher {

const Layout::PciPlace* Layout::find_pci(std::string_view address) const {
  const auto found =
      std::find_if(pci.begin(), pci.end(), [&](const auto& one) { return one.address == address; });
  return found == pci.end() ? nullptr : &*found;
}

void sort_layout(Layout& layout) {
  std::ranges::sort(layout.nodes, {}, &Layout::NumaNode::id);
  std::ranges::sort(layout.cores, [](const auto& a, const auto& b) {
    return std::tie(a.node, a.cpus) < std::tie(b.node, b.cpus);
  });
  std::ranges::sort(layout.pci, {}, &Layout::PciPlace::address);
  std::ranges::sort(layout.nics, [](const auto& a, const auto& b) {
    return std::tie(a.pci, a.name) < std::tie(b.pci, b.name);
  });
}

Layout discover_layout(const Sysroot& root) {
  if (!root.is_live()) return sysfs_layout(root);
  if (auto layout = hwloc_layout()) return *std::move(layout);
  auto layout = sysfs_layout(root);
  layout.source = "sysfs (libhwloc.so.15 is not installed)";
  return layout;
}

int shared_bridges(const Layout::PciPlace& a, const Layout::PciPlace& b) {
  const auto parted = std::ranges::mismatch(a.above, b.above);
  return static_cast<int>(parted.in1 - a.above.begin());
}

}  // namespace muster::launcher
