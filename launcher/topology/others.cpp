#include "topology/others.hpp"

#include "text.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace muster::launcher {
namespace {

constexpr std::string_view nodes_folder = "/sys/class/kfd/kfd/topology/nodes";
constexpr std::string_view cards_folder = "/sys/class/drm";

/// "key value" lines.
template <class Number>
Number property(std::string_view text, std::string_view key) {
  for (const auto line : split(text, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() == 2 && words[0] == key) return to_number<Number>(words[1]).value_or(0);
  }
  return 0;
}

std::string why_unusable(const Sysroot& root, const std::string& file) {
  if (!root.exists(file)) return "there is no " + file + " (hidden from this container?)";
  return root.may_use(file) ? "" : "no permission to open " + file;
}

/// 90402 is gfx942: major, minor and step in two digits each, the last two as one hexadecimal.
std::string gfx_name(unsigned version) {
  if (version == 0) return "";
  return fmt::format("gfx{}{:x}{:x}", version / 10000, version / 100 % 100, version % 100);
}

std::string pci_address(std::string_view properties) {
  const auto location = property<unsigned>(properties, "location_id");
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", property<unsigned>(properties, "domain"),
                     location >> 8 & 0xFF, location >> 3 & 0x1F, location & 0x7);
}

std::uint64_t memory_of(const Sysroot& root, const std::string& folder) {
  std::uint64_t bytes = 0;
  for (const auto& bank : root.list(folder + "/mem_banks")) {
    const auto text = root.read(folder + "/mem_banks/" + bank + "/properties").value_or("");
    const auto heap = property<unsigned>(text, "heap_type");
    constexpr unsigned visible = 1, invisible = 2;  // Both are on the device.
    if (heap == visible || heap == invisible) {
      bytes += property<std::uint64_t>(text, "size_in_bytes");
    }
  }
  return bytes;
}

void add_amd(const Sysroot& root, std::vector<OtherDevice>& devices) {
  for (const auto& name : root.list(nodes_folder)) {
    const auto folder = std::string(nodes_folder) + "/" + name;
    const auto text = root.read(folder + "/properties").value_or("");
    if (property<unsigned>(text, "simd_count") == 0) continue;  // A processor.
    const auto pci = pci_address(text);
    const auto file =
        "/dev/dri/renderD" + std::to_string(property<unsigned>(text, "drm_render_minor"));
    auto note = why_unusable(root, "/dev/kfd");
    if (note.empty()) note = why_unusable(root, file);
    devices.push_back({"AMD", gfx_name(property<unsigned>(text, "gfx_target_version")), pci,
                       memory_of(root, folder), pci_numa_node(root, pci), note});
  }
}

void add_intel(const Sysroot& root, std::vector<OtherDevice>& devices) {
  for (const auto& name : root.list(cards_folder)) {
    if (!name.starts_with("renderD")) continue;
    const auto folder = std::string(cards_folder) + "/" + name + "/device";
    if (root.read(folder + "/vendor").value_or("") != "0x8086") continue;
    const auto uevent = root.read(folder + "/uevent").value_or("");
    std::string pci;
    for (const auto line : split(uevent, '\n')) {
      constexpr std::string_view key = "PCI_SLOT_NAME=";
      if (line.starts_with(key)) pci = line.substr(key.size());
    }
    const auto memory = root.read(folder + "/lmem_total_bytes").value_or("");
    devices.push_back({"Intel", root.read(folder + "/device").value_or(""), pci,
                       to_number<std::uint64_t>(memory).value_or(0), pci_numa_node(root, pci),
                       why_unusable(root, "/dev/dri/" + name)});
  }
}

}  // namespace

std::vector<OtherDevice> discover_others(const Sysroot& root) {
  std::vector<OtherDevice> devices;
  add_amd(root, devices);
  add_intel(root, devices);
  std::ranges::stable_sort(devices, {}, &OtherDevice::pci);
  return devices;
}

}  // namespace muster::launcher
