#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace muster::launcher {

/// What NVIDIA's management library said.
struct NvmlAnswer {
  struct Device {
    std::string uuid;
    std::string parent;  ///< An instance's (MIG) device; empty for a whole device.
    std::string pci;
    std::string model;
  };
  std::vector<Device> devices;  ///< In PCI order, instances after their device.
  std::string fault;            ///< Why there is no answer; empty if there is one.
};

/// Asks in a child process, because the first call may wake every device and a broken one blocks
/// for ever. Blocks for at most `patience`, then kills the child. Must be called before the process
/// has threads.
NvmlAnswer ask_nvml(std::chrono::milliseconds patience = std::chrono::seconds(2));

}  // namespace muster::launcher
