#pragma once

#include "topology/layout.hpp"

#include <string>
#include <vector>

namespace muster::launcher {

/// For each device, by PCI address, the InfiniBand device that shares most bridges with it, else
/// one of its NUMA node; of several that are as near, the one that was taken least. Empty where
/// none is near, or the address is not known.
std::vector<std::string> nearest_nics(const Layout& layout, const std::vector<std::string>& pci);

}  // namespace muster::launcher
