#include "planning/nearest_nic.hpp"

#include <cstddef>
#include <map>

namespace muster::launcher {
namespace {

/// 0: not near.
int nearness(const Layout::PciPlace& device, const Layout::PciPlace& nic) {
  constexpr int same_node = 1;
  const bool near = device.node >= 0 && device.node == nic.node;
  return 2 * shared_bridges(device, nic) + (near ? same_node : 0);
}

}  // namespace

std::vector<std::string> nearest_nics(const Layout& layout, const std::vector<std::string>& pci) {
  std::map<std::string, int> taken;
  std::vector<std::string> nics;
  for (const auto& address : pci) {
    const auto* device = layout.find_pci(address);
    const Layout::Nic* best = nullptr;
    int best_nearness = 0;
    for (const auto& nic : layout.nics) {
      const auto* place = layout.find_pci(nic.pci);
      const int near = device == nullptr || place == nullptr ? 0 : nearness(*device, *place);
      if (near == 0 || near < best_nearness) continue;
      if (near == best_nearness && taken[nic.name] >= taken[best->name]) continue;
      best = &nic;
      best_nearness = near;
    }
    nics.push_back(best == nullptr ? "" : best->name);
    if (best != nullptr) ++taken[best->name];
  }
  return nics;
}

}  // namespace muster::launcher
