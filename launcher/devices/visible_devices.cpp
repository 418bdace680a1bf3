#include "devices/visible_devices.hpp"

#include <muster/error.hpp>

#include "text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace muster::launcher {
namespace {

constexpr std::string_view variable_name = "CUDA_VISIBLE_DEVICES";

std::string count_of(const NvidiaDevices& found) {
  const auto count = found.usable.size();
  return count == 1 ? "1 NVIDIA device" : fmt::format("{} NVIDIA devices", count);
}

[[noreturn]] void refuse(std::string_view whole, std::string_view entry, const std::string& why) {
  throw ConfigError(fmt::format("{}={}: '{}' {}", variable_name, whole, entry, why));
}

/// The model every device of this host has; empty if they differ.
std::string common_model(const NvidiaDevices& found) {
  const auto& all = found.usable;
  const bool same = std::all_of(all.begin(), all.end(), [&](const auto& device) {
    return device.model == all.front().model;
  });
  return same && !all.empty() ? all.front().model : "";
}

VisibleDevice named(std::string name, const NvidiaDevice& device) {
  return {std::move(name), device.model, device.pci, device.node};
}

VisibleDevice by_index(std::string_view whole, std::string_view entry, const NvidiaDevices& found,
                       bool pci_order) {
  const auto index = to_number<int>(entry);
  const auto count = static_cast<int>(found.usable.size());
  if (!index || *index < 0 || *index >= count) {
    refuse(whole, entry,
           !index ? "is no device: an index, GPU-<uuid> or MIG-<uuid> is"
                  : "does not exist: this host has " + count_of(found) +
                        (count == 0 ? "" : fmt::format(", 0 to {}", count - 1)));
  }
  // CUDA's own order is the fastest first, which files do not tell; of one model it is PCI order.
  if (!pci_order && common_model(found).empty()) return {std::string(entry)};
  return named(std::string(entry), found.usable[static_cast<std::size_t>(*index)]);
}

VisibleDevice by_uuid(std::string_view whole, std::string_view entry, const NvidiaDevices& found) {
  const NvidiaDevice* match = nullptr;
  bool all_known = true;
  for (const auto& device : found.usable) {
    all_known = all_known && !device.uuid.empty();
    if (device.uuid.empty() || !device.uuid.starts_with(entry)) continue;
    if (match != nullptr) refuse(whole, entry, "fits more than one device; write more of its UUID");
    match = &device;
  }
  // A device the driver has not looked at yet has no UUID here: then CUDA is the judge.
  if (match == nullptr && all_known) {
    refuse(whole, entry, "is none of this host's " + count_of(found));
  }
  return match == nullptr ? VisibleDevice{std::string(entry)} : named(std::string(entry), *match);
}

/// Its full name is taken on trust: instances cannot be listed without the driver. On a host with
/// one device it can only be of that one.
VisibleDevice instance_named(std::string_view entry, const NvidiaDevices& found) {
  for (const auto& device : found.usable) {
    if (device.uuid == entry) return named(std::string(entry), device);
  }
  VisibleDevice instance{std::string(entry)};
  if (found.usable.size() == 1) instance.node = found.usable.front().node;
  if (found.usable.size() == 1) instance.pci = found.usable.front().pci;
  return instance;
}

VisibleDevices all_of(const NvidiaDevices& found) {
  VisibleDevices all;
  all.needs_pci_order = std::any_of(found.usable.begin(), found.usable.end(),
                                    [](const auto& device) { return device.uuid.empty(); });
  for (std::size_t index = 0; index < found.usable.size(); ++index) {
    const auto& device = found.usable[index];
    if (device.divided) continue;  // Programs can only use its instances.
    all.devices.push_back(named(all.needs_pci_order ? std::to_string(index) : device.uuid, device));
  }
  return all;
}

}  // namespace

bool is_instance(std::string_view name) { return name.starts_with("MIG-"); }

VisibleDevices visible_devices(const std::optional<std::string>& variable,
                               const NvidiaDevices& found, bool pci_order) {
  if (!variable) return all_of(found);
  VisibleDevices visible;
  const auto whole = trim(*variable);
  if (whole.empty() || whole == "-1" || whole == "NoDevFiles") return visible;
  for (std::size_t at = 0, comma = 0; at <= whole.size(); at = comma + 1) {
    comma = std::min(whole.find(',', at), whole.size());
    const auto entry = trim(whole.substr(at, comma - at));
    VisibleDevice device;
    if (is_instance(entry)) {
      device = instance_named(entry, found);
    } else if (entry.starts_with("GPU-")) {
      device = by_uuid(whole, entry, found);
    } else {
      device = by_index(whole, entry, found, pci_order);
    }
    const auto same = [&](const VisibleDevice& other) { return other.name == device.name; };
    if (std::any_of(visible.devices.begin(), visible.devices.end(), same)) {
      refuse(whole, entry, "is there twice");
    }
    visible.devices.push_back(std::move(device));
  }
  return visible;
}

}  // namespace muster::launcher
