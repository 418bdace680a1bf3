#include "topology/cgroup.hpp"

#include "text.hpp"
#include "topology/cpu_list.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace muster::launcher {
namespace {

/// mountinfo writes a space as \040, and so on.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    int code = 0;
    if (text[at] == '\\' && at + 3 < text.size() &&
        std::from_chars(&text[at + 1], &text[at] + 4, code, 8).ptr == &text[at] + 4) {
      plain += static_cast<char>(code);
      at += 3;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

struct Mount {
  int version = 0;
  std::string root, point;
  std::vector<std::string> controllers;
};

/// "36 35 98:0 /root /point rw shared:1 - cgroup2 cgroup2 rw,nsdelegate"; nothing for other kinds.
std::optional<Mount> parse_mount(std::string_view line) {
  const auto fields = split(line, ' ');
  const auto dash = std::find(fields.begin(), fields.end(), "-");
  if (fields.size() < 7 || fields.end() - dash < 4) return std::nullopt;
  Mount mount;
  if (dash[1] == "cgroup") mount.version = 1;
  if (dash[1] == "cgroup2") mount.version = 2;
  if (mount.version == 0) return std::nullopt;
  mount.root = unescape(fields[3]);
  mount.point = unescape(fields[4]);
  for (const auto option : split(dash[3], ',')) mount.controllers.emplace_back(option);
  return mount;
}

/// Our group seen from the mount. A path outside the mounted part (a namespace) is the mount
/// itself.
std::string below_mount(const std::string& mount_root, std::string path) {
  if (path == "/" || path.starts_with("/..")) return "";
  if (mount_root == "/") return path;
  if (!path.starts_with(mount_root)) return "";
  path.erase(0, mount_root.size());
  return path.starts_with('/') ? path : "";
}

}  // namespace

Cgroups::Cgroups(const Sysroot& root) : root_(root) {
  const auto own = root.read("/proc/self/cgroup");
  const auto mounts = root.read("/proc/self/mountinfo");
  if (!own || !mounts) return;
  std::map<std::string, std::string, std::less<>> path_of;  // Controller -> path; "" is version 2.
  for (const auto line : split(*own, '\n')) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string path(line.substr(second + 1));
    for (const auto name : split(line.substr(first + 1, second - first - 1), ',')) {
      path_of.emplace(name, path);
    }
    if (second == first + 1) path_of.emplace("", path);
  }
  for (const auto line : split(*mounts, '\n')) {
    auto mount = parse_mount(line);
    if (!mount) continue;
    if (mount->version == 2) mount->controllers = {""};
    // The same tree may be mounted again elsewhere, for a chroot.
    const auto same = [&](const Hierarchy& other) {
      return other.controllers == mount->controllers;
    };
    if (std::any_of(hierarchies_.begin(), hierarchies_.end(), same)) continue;
    for (const auto& controller : mount->controllers) {
      const auto path = path_of.find(controller);
      if (path == path_of.end()) continue;
      hierarchies_.push_back({mount->version, mount->controllers, mount->point,
                              below_mount(mount->root, path->second)});
      break;
    }
  }
}

std::vector<const Cgroups::Hierarchy*> Cgroups::with_controller(std::string_view controller) const {
  std::vector<const Hierarchy*> found;
  for (const auto& one : hierarchies_) {
    const auto& names = one.controllers;
    if (one.version == 2 || std::find(names.begin(), names.end(), controller) != names.end()) {
      found.push_back(&one);
    }
  }
  return found;
}

std::vector<std::pair<std::string, std::string>> Cgroups::path_to_root(const Hierarchy& hierarchy) {
  std::vector<std::pair<std::string, std::string>> folders;
  std::string below = hierarchy.below;
  while (true) {
    folders.emplace_back(hierarchy.mount + below, below.empty() ? "/" : below);
    if (below.empty()) return folders;
    below.erase(below.rfind('/'));
  }
}

std::optional<Cgroups::Limit<double>> Cgroups::cpu_quota() const {
  std::optional<Limit<double>> smallest;
  for (const auto* hierarchy : with_controller("cpu")) {
    for (const auto& [folder, group] : path_to_root(*hierarchy)) {
      std::optional<double> quota, period;
      if (hierarchy->version == 2) {
        const auto text = root_.read(folder + "/cpu.max").value_or("");
        const auto space = text.find(' ');
        if (space == text.npos) continue;
        quota = to_number<double>(text.substr(0, space));  // "max" is no number.
        period = to_number<double>(text.substr(space + 1));
      } else {
        quota = to_number<double>(root_.read(folder + "/cpu.cfs_quota_us").value_or(""));
        period = to_number<double>(root_.read(folder + "/cpu.cfs_period_us").value_or(""));
      }
      if (!quota || !period || *quota <= 0 || *period <= 0) continue;  // -1: no quota.
      const double cpus = *quota / *period;
      if (!smallest || cpus < smallest->value) smallest = {cpus, group};
    }
  }
  return smallest;
}

std::optional<Cgroups::Limit<std::vector<int>>> Cgroups::cpuset() const {
  for (const auto* hierarchy : with_controller("cpuset")) {
    for (const auto& [folder, group] : path_to_root(*hierarchy)) {
      for (const auto* file :
           {"/cpuset.cpus.effective", "/cpuset.effective_cpus", "/cpuset.cpus"}) {
        const auto text = root_.read(folder + file);
        // A group without a set of its own has an empty file: the parent's counts.
        if (!text || text->empty()) continue;
        if (auto cpus = parse_cpu_list(*text))
          return Limit<std::vector<int>>{*std::move(cpus), group};
      }
    }
  }
  return std::nullopt;
}

std::optional<Cgroups::Limit<std::uint64_t>> Cgroups::memory_limit() const {
  constexpr std::uint64_t unlimited_v1 =
      0x7FFF'FFFF'0000'0000;  // Rounded down to pages of any size.
  std::optional<Limit<std::uint64_t>> smallest;
  for (const auto* hierarchy : with_controller("memory")) {
    const auto* file = hierarchy->version == 2 ? "/memory.max" : "/memory.limit_in_bytes";
    for (const auto& [folder, group] : path_to_root(*hierarchy)) {
      const auto bytes = to_number<std::uint64_t>(root_.read(folder + file).value_or(""));
      if (!bytes || *bytes >= unlimited_v1) continue;
      if (!smallest || *bytes < smallest->value) smallest = {*bytes, group};
    }
  }
  return smallest;
}

std::optional<std::uint64_t> Cgroups::memory_kills() const {
  for (const auto* hierarchy : with_controller("memory")) {
    const auto* file = hierarchy->version == 2 ? "/memory.events" : "/memory.oom_control";
    const auto text = root_.read(hierarchy->mount + hierarchy->below + file);
    if (const auto kills = counter(text.value_or(""), "oom_kill")) return kills;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Cgroups::memory_peak() const {
  const auto limit = memory_limit();
  for (const auto* hierarchy : with_controller("memory")) {
    const auto* file = hierarchy->version == 2 ? "/memory.peak" : "/memory.max_usage_in_bytes";
    for (const auto& [folder, group] : path_to_root(*hierarchy)) {
      if (!limit || group != limit->group) continue;
      if (const auto bytes = to_number<std::uint64_t>(root_.read(folder + file).value_or("")))
        return bytes;
    }
  }
  return std::nullopt;
}

std::string_view Cgroups::version() const {
  bool one = false, two = false;
  for (const auto& hierarchy : hierarchies_) (hierarchy.version == 2 ? two : one) = true;
  if (one) return two ? "v1 and v2" : "v1";
  return two ? "v2" : "none";
}

}  // namespace muster::launcher
