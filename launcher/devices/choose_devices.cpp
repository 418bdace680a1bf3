#include "devices/choose_devices.hpp"

#include <muster/error.hpp>

#include "text.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace muster::launcher {
namespace {

std::optional<std::string> value_of(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  if (found == environment.end()) return std::nullopt;
  return found->second;
}

bool is_word(const std::vector<std::string>& devices, std::string_view word) {
  return devices.size() == 1 && devices.front() == word;
}

std::string notes_of(const NvidiaDevices& found) {
  std::string text;
  for (const auto& note : found.notes) text += "\n  " + note;
  return text;
}

std::string names_of(const VisibleDevices& visible) {
  std::string names;
  for (const auto& device : visible.devices) names += (names.empty() ? "" : ",") + device.name;
  return names;
}

/// `name` is what set the devices.
[[noreturn]] void refuse_entry(const std::string& name, const std::string& entry,
                               const VisibleDevices& visible, bool user_limited,
                               const NvidiaDevices& found) {
  const auto count = visible.devices.size();
  if (count == 0) {
    throw ConfigError(fmt::format("{} {}: {}{}; --devices cpu runs without", name, entry,
                                  user_limited ? "CUDA_VISIBLE_DEVICES hides every device"
                                               : "this host has no NVIDIA device that can be used",
                                  notes_of(found)));
  }
  throw ConfigError(fmt::format("{}: no device '{}'; {} {} ({}), 0 to {} or by UUID", name, entry,
                                user_limited ? "CUDA_VISIBLE_DEVICES shows" : "this host has",
                                count == 1 ? "one" : std::to_string(count), names_of(visible),
                                count - 1));
}

/// The device an entry of the list names: an index into what is visible, or (the start of) a UUID.
const VisibleDevice* find_entry(const std::string& name, const std::string& entry,
                                const VisibleDevices& visible) {
  if (const auto index = to_number<std::size_t>(entry)) {
    return *index < visible.devices.size() ? &visible.devices[*index] : nullptr;
  }
  const VisibleDevice* match = nullptr;
  for (const auto& device : visible.devices) {
    // Either may be the shortened one: the user's variable may hold a prefix too.
    if (!device.name.starts_with(entry) && !entry.starts_with(device.name)) continue;
    if (match != nullptr) {
      throw ConfigError(name + ": '" + entry + "' fits more than one device; write more of it");
    }
    match = &device;
  }
  return match;
}

DeviceChoice listed_devices(const std::string& name, const LaunchSettings& settings,
                            const VisibleDevices& visible, bool user_limited,
                            const NvidiaDevices& found) {
  DeviceChoice choice;
  choice.listed = true;
  for (const auto& entry : settings.devices) {
    const auto* device = find_entry(name, entry, visible);
    // An instance cannot be listed without the driver; its full name is taken on trust.
    const VisibleDevice instance{entry};
    if (device == nullptr && is_instance(entry) && !user_limited) device = &instance;
    if (device == nullptr) refuse_entry(name, entry, visible, user_limited, found);
    if (std::find(choice.devices.begin(), choice.devices.end(), *device) != choice.devices.end()) {
      throw ConfigError(name + ": '" + entry + "' is there twice");
    }
    choice.devices.push_back(*device);
  }
  return choice;
}

}  // namespace

NvmlUse nvml_use(const LaunchSettings& settings, const Environment& environment) {
  if (is_word(settings.devices, "cpu")) return NvmlUse::never;
  const bool named = value_of(environment, "CUDA_VISIBLE_DEVICES").has_value() ||
                     is_instance(settings.devices.empty() ? "" : settings.devices.front());
  return named ? NvmlUse::for_devices : NvmlUse::for_instances;
}

DeviceChoice choose_devices(const LaunchSettings& settings, const Environment& environment,
                            const NvidiaDevices& found, const SettingNames& names) {
  const std::string name = names.of("launch.devices");
  DeviceChoice choice;
  if (is_word(settings.devices, "cpu")) {
    choice.hide = !found.usable.empty();
    return choice;
  }
  const bool automatic = is_word(settings.devices, "auto");
  const auto variable = value_of(environment, "CUDA_VISIBLE_DEVICES");
  // A variable left over from a profile means nothing on a host without devices.
  if (automatic && found.usable.empty()) {
    if (!found.notes.empty()) choice.why_cpu = found.notes.front();
    return choice;
  }
  const bool pci_order = value_of(environment, "CUDA_DEVICE_ORDER") == "PCI_BUS_ID";
  const auto visible = visible_devices(variable, found, pci_order);
  if (automatic || is_word(settings.devices, "cuda")) {
    if (!automatic && visible.devices.empty()) {
      refuse_entry(name, "cuda", visible, variable.has_value(), found);
    }
    choice.devices = visible.devices;
    if (visible.devices.empty() && variable)
      choice.why_cpu = "CUDA_VISIBLE_DEVICES hides every device";
    if (visible.devices.empty() && !variable)
      choice.why_cpu = "no instance of a divided device was found";
  } else {
    choice = listed_devices(name, settings, visible, variable.has_value(), found);
  }
  const bool instances = std::any_of(choice.devices.begin(), choice.devices.end(),
                                     [](const auto& device) { return is_instance(device.name); });
  choice.pinned = !choice.devices.empty() && (settings.pin_devices || instances);
  choice.pci_order = !choice.devices.empty() && visible.needs_pci_order;
  return choice;
}

RankCount choose_ranks(const LaunchSettings& settings, const DeviceChoice& devices) {
  const auto& asked = settings.nproc_per_node ? *settings.nproc_per_node : settings.num_processes;
  const auto count = static_cast<int>(devices.devices.size());
  if (asked.is_auto()) {
    if (count == 0) {
      const auto& why = devices.why_cpu;
      return {1, "1 rank on the CPU (-n starts more)" + (why.empty() ? "" : ": " + why)};
    }
    return {count, fmt::format("{} rank{}, one for each {}", count, count == 1 ? "" : "s",
                               devices.listed ? "device of --devices"
                                              : "CUDA device (change: -n, --devices)")};
  }
  const int ranks = *asked.value;
  if (count > 0 && ranks > count && !settings.oversubscribe) {
    throw ConfigError(
        fmt::format("{} ranks were asked for, and there {} {} CUDA device{}: use -n {}, "
                    "or --oversubscribe to share devices, or --devices cpu",
                    ranks, count == 1 ? "is" : "are", count, count == 1 ? "" : "s", count));
  }
  return {ranks, ""};
}

}  // namespace muster::launcher
