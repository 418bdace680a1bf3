#pragma once

#include "topology/nvidia.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// A device as ranks will be told of it.
struct VisibleDevice {
  std::string name;     ///< For CUDA_VISIBLE_DEVICES: a UUID, or the user's own word.
  std::string model{};  ///< For people; empty if unknown.
  std::string pci{};    ///< "0000:01:00.0"; empty if unknown.
  int node = -1;        ///< The NUMA node next to it; -1 if unknown.
  bool operator==(const VisibleDevice&) const = default;
};

/// The devices that a CUDA program would see, in its order, and whether their names are bare
/// indices that only mean the same to CUDA in PCI order.
struct VisibleDevices {
  std::vector<VisibleDevice> devices;
  bool needs_pci_order = false;
};

/// `variable` is the user's CUDA_VISIBLE_DEVICES, if set: indices, GPU-… prefixes, MIG-… names, in
/// the user's own words and order; empty, "-1" and "NoDevFiles" are none. Without it: all that is
/// usable. `pci_order` tells that the user asked CUDA for PCI order, so that an index names a known
/// device. Throws ConfigError naming an entry that is no device of this host, that is ambiguous or
/// double: CUDA would silently hide the rest.
VisibleDevices visible_devices(const std::optional<std::string>& variable,
                               const NvidiaDevices& found, bool pci_order);

/// True for "MIG-…", an instance of a divided device.
bool is_instance(std::string_view name);

}  // namespace muster::launcher
