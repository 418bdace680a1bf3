#include "topology/memory.hpp"

#include "text.hpp"

#include <sys/statvfs.h>

namespace muster::launcher {
namespace {

/// "Max open files   1024   524288   files": the first number is the one in force.
std::uint64_t open_files(const Sysroot& root) {
  constexpr std::string_view key = "Max open files";
  const auto limits = root.read("/proc/self/limits").value_or("");
  for (const auto line : split(limits, '\n')) {
    if (!line.starts_with(key)) continue;
    const auto words = split(line.substr(key.size()), ' ');
    return words.empty() ? 0 : to_number<std::uint64_t>(words.front()).value_or(0);
  }
  return 0;
}

}  // namespace

Memory discover_memory(const Sysroot& root, const Cgroups& cgroups) {
  Memory memory;
  const auto info = root.read("/proc/meminfo").value_or("");
  const auto words = split(field(info, "MemTotal"), ' ');
  if (!words.empty()) memory.total = to_number<std::uint64_t>(words.front()).value_or(0) * 1024;
  if (auto limit = cgroups.memory_limit(); limit && limit->value < memory.total) {
    memory.limit = limit->value;
    memory.limit_group = limit->group;
  }
  struct statvfs shared {};
  if (::statvfs(root.locate("/dev/shm").c_str(), &shared) == 0) {
    memory.shared = static_cast<std::uint64_t>(shared.f_blocks) * shared.f_frsize;
  }
  memory.open_files = open_files(root);
  return memory;
}

}  // namespace muster::launcher
