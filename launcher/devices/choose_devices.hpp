#pragma once

#include <muster/setting_names.hpp>
#include <muster/settings.hpp>
#include <muster/world.hpp>

#include "devices/visible_devices.hpp"
#include "topology/nvidia.hpp"

#include <optional>
#include <string>
#include <vector>

namespace muster::launcher {

/// What the ranks of this host run on.
struct DeviceChoice {
  /// In rank order; empty: on the CPU. With as many ranks as this or fewer, rank i has devices[i].
  std::vector<VisibleDevice> devices;
  bool listed = false;     ///< The user named each of them.
  bool pinned = false;     ///< Each rank sees its own device only.
  bool pci_order = false;  ///< CUDA_DEVICE_ORDER must say PCI_BUS_ID for the names to mean these.
  bool hide = false;       ///< The host has devices and the ranks must not see them.
  std::string why_cpu;     ///< Why nothing was found to run on, where that is worth telling.
};

/// Obeys `devices`, `pin_devices` and the user's CUDA_VISIBLE_DEVICES. An index in `devices` counts
/// within that variable, else in PCI order. Throws ConfigError, which names settings by `names`,
/// for what this host does not have.
DeviceChoice choose_devices(const LaunchSettings& settings, const Environment& environment,
                            const NvidiaDevices& found, const SettingNames& names = {});

/// What has to be asked for that choice, before the devices are looked for.
NvmlUse nvml_use(const LaunchSettings& settings, const Environment& environment);

/// Ranks on this host: as asked, or one a device, or one on the CPU. Throws ConfigError with both
/// numbers for more ranks than devices unless `oversubscribe` allows them.
struct RankCount {
  int ranks = 1;
  std::string why;  ///< Empty if the user said how many.
};
RankCount choose_ranks(const LaunchSettings& settings, const DeviceChoice& devices);

}  // namespace muster::launcher
