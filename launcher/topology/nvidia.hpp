#pragma once

#include "topology/nvml.hpp"
#include "topology/sysroot.hpp"

#include <string>
#include <vector>

namespace muster::launcher {

/// An NVIDIA device, or an instance of one that is divided (MIG).
struct NvidiaDevice {
  std::string uuid;   ///< "GPU-…" or "MIG-…"; empty while the driver has not looked at it yet.
  std::string pci;    ///< "0000:01:00.0"; empty if unknown.
  std::string model;  ///< "H200", without the maker's name.
  int minor = -1;     ///< N of /dev/nvidiaN; -1 if unknown.
  bool divided = false;  ///< MIG is on: programs can only use its instances.
  int node = -1;         ///< The NUMA node next to it; -1 if the host does not tell.
  bool operator==(const NvidiaDevice&) const = default;
};

/// What of NVIDIA's this host has.
struct NvidiaDevices {
  std::vector<NvidiaDevice> usable;  ///< In PCI order: this process may open them.
  std::vector<std::string> notes;  ///< One line for each that is there and cannot be used, and why.
  bool operator==(const NvidiaDevices&) const = default;
};

/// What NVML may be asked, where files cannot tell. A recorded machine is never asked.
enum class NvmlUse {
  never,
  for_devices,    ///< WSL2: no file there names the devices.
  for_instances,  ///< And the instances of a divided device.
};

/// Looks at files only: no driver call, so that no sleeping device wakes. NVML, if it may be asked
/// and must be, runs in a child process that has two seconds.
NvidiaDevices discover_nvidia(const Sysroot& root, NvmlUse nvml);

/// The same with the instances of each divided device in its place, as NVML told them.
NvidiaDevices with_instances(NvidiaDevices found, const NvmlAnswer& answer);

/// Devices on the PCI bus for which no driver is loaded, one line each: why discover_nvidia found
/// nothing.
std::vector<std::string> nvidia_without_driver(const Sysroot& root);

}  // namespace muster::launcher
