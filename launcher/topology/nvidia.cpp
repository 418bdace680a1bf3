#include "topology/nvidia.hpp"

#include "text.hpp"

#include <algorithm>
#include <cctype>
#include <tuple>
#include <utility>

namespace muster::launcher {
namespace {

std::string short_model(std::string_view model) {
  for (const std::string_view maker : {"NVIDIA ", "Tesla "}) {
    if (model.starts_with(maker)) model.remove_prefix(maker.size());
  }
  return std::string(model);
}

/// A device the driver has not initialised shows question marks.
std::string known_uuid(std::string_view uuid) {
  return uuid.find('?') == uuid.npos ? std::string(uuid) : std::string();
}

bool is_divided(const Sysroot& root, int minor) {
  const auto folder = "/proc/driver/nvidia/capabilities/gpu" + std::to_string(minor) + "/mig";
  const auto names = root.list(folder);
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.starts_with("gi"); });
}

/// -1 where the firmware does not say, and without an address.
int numa_node_of(const Sysroot& root, std::string pci) {
  constexpr std::size_t long_domain = sizeof "00000000" - 1;
  if (pci.find(':') == long_domain) pci.erase(0, long_domain / 2);
  std::ranges::transform(pci, pci.begin(), [](unsigned char c) { return std::tolower(c); });
  return pci_numa_node(root, pci);
}

std::string device_file(int minor) { return "/dev/nvidia" + std::to_string(minor); }

/// The driver's own list, in PCI order: its folders are named by PCI address.
NvidiaDevices from_driver(const Sysroot& root) {
  NvidiaDevices found;
  for (const auto& folder : root.list("/proc/driver/nvidia/gpus")) {
    const auto text = root.read("/proc/driver/nvidia/gpus/" + folder + "/information");
    if (!text) continue;
    NvidiaDevice device;
    device.uuid = known_uuid(field(*text, "GPU UUID"));
    device.model = short_model(field(*text, "Model"));
    const auto pci = field(*text, "Bus Location");
    device.pci = pci.empty() ? folder : std::string(pci);
    device.minor = to_number<int>(field(*text, "Device Minor")).value_or(-1);
    const auto file = device_file(device.minor);
    const auto name = device.model + " at " + device.pci;
    if (field(*text, "GPU Excluded") == "Yes") {
      found.notes.push_back(name + ": excluded by the driver's settings");
    } else if (!root.exists(file)) {
      found.notes.push_back(name + ": there is no " + file + " (hidden from this container?)");
    } else if (!root.may_use(file)) {
      found.notes.push_back(name + ": no permission to open " + file);
    } else {
      device.divided = is_divided(root, device.minor);
      device.node = numa_node_of(root, device.pci);
      found.usable.push_back(std::move(device));
    }
  }
  return found;
}

/// Containers that hide the driver's folder still show the device files.
NvidiaDevices from_device_files(const Sysroot& root) {
  NvidiaDevices found;
  if (!root.exists("/dev/nvidiactl")) return found;  // Saves listing a long /dev.
  constexpr std::string_view prefix = "nvidia";
  for (const auto& name : root.list("/dev")) {
    if (!name.starts_with(prefix)) continue;
    const auto minor = to_number<int>(std::string_view(name).substr(prefix.size()));
    if (!minor) continue;
    if (root.may_use(device_file(*minor))) {
      NvidiaDevice device;
      device.minor = *minor;
      found.usable.push_back(std::move(device));
    } else {
      found.notes.push_back("no permission to open " + device_file(*minor));
    }
  }
  std::sort(found.usable.begin(), found.usable.end(),
            [](const auto& a, const auto& b) { return a.minor < b.minor; });
  return found;
}

/// WSL2: the devices are the Windows driver's.
NvidiaDevices from_windows(const NvmlAnswer& answer) {
  NvidiaDevices found;
  for (const auto& device : answer.devices) {
    if (!device.parent.empty()) continue;
    found.usable.push_back({device.uuid, device.pci, short_model(device.model), -1, false});
  }
  if (!answer.fault.empty()) found.notes.push_back("NVIDIA devices of Windows: " + answer.fault);
  return found;
}

}  // namespace

NvidiaDevices with_instances(NvidiaDevices found, const NvmlAnswer& answer) {
  std::vector<NvidiaDevice> devices;
  for (auto& device : found.usable) {
    if (!device.divided) {
      devices.push_back(std::move(device));
      continue;
    }
    const auto before = devices.size();
    for (const auto& instance : answer.devices) {
      if (instance.parent != device.uuid || instance.parent.empty()) continue;
      devices.push_back({instance.uuid, device.pci, short_model(instance.model), device.minor,
                         false, device.node});
    }
    if (devices.size() == before) {
      found.notes.push_back(device.model + " at " + device.pci +
                            ": divided (MIG), and its instances could not be listed" +
                            (answer.fault.empty() ? "" : ": " + answer.fault));
    }
  }
  found.usable = std::move(devices);
  return found;
}

NvidiaDevices discover_nvidia(const Sysroot& root, NvmlUse nvml) {
  const bool may_ask = root.is_live() && nvml != NvmlUse::never;
  auto found = from_driver(root);
  if (!found.usable.empty() || !found.notes.empty()) {
    const bool divided = std::any_of(found.usable.begin(), found.usable.end(),
                                     [](const auto& device) { return device.divided; });
    if (divided && may_ask && nvml == NvmlUse::for_instances) {
      return with_instances(std::move(found), ask_nvml());
    }
    return found;
  }
  found = from_device_files(root);
  if (found.usable.empty() && found.notes.empty() && may_ask && root.exists("/dev/dxg")) {
    return from_windows(ask_nvml());
  }
  return found;
}

std::vector<std::string> nvidia_without_driver(const Sysroot& root) {
  std::vector<std::string> notes;
  for (const auto& address : root.list("/sys/bus/pci/devices")) {
    const auto folder = "/sys/bus/pci/devices/" + address;
    if (root.read(folder + "/vendor").value_or("") != "0x10de") continue;
    const auto kind = root.read(folder + "/class").value_or("");
    // A display or a 3D controller; other functions of the card are sound and USB.
    if (!kind.starts_with("0x0300") && !kind.starts_with("0x0302")) continue;
    notes.push_back("an NVIDIA device at " + address + " has no driver loaded");
  }
  return notes;
}

}  // namespace muster::launcher
