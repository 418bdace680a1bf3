#include "memory_figures.hpp"

#include <ATen/DeviceAccelerator.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace muster {
namespace {

/// A line of /proc/self/status in bytes; 0 without it.
std::int64_t status_bytes(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":")) {
      return std::strtoll(line.c_str() + name.size() + 1, nullptr, 10) * 1024;
    }
  }
  return 0;
}

void keep_smaller(std::int64_t& limit, std::int64_t other) {
  if (other > 0 && (limit == 0 || other < limit)) limit = other;
}

/// The smallest of the limits on this process's memory that are known; 0: none.
std::int64_t memory_limit() {
  std::int64_t limit = 0;
  for (const auto kind : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit value{};
    if (getrlimit(kind, &value) == 0 && value.rlim_cur != RLIM_INFINITY) {
      keep_smaller(limit, static_cast<std::int64_t>(value.rlim_cur));
    }
  }
  // The group's own file, of cgroups of version 2; "max" is no number.
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::")) continue;
    std::ifstream file("/sys/fs/cgroup" + line.substr(3) + "/memory.max");
    std::int64_t bytes = 0;
    if (file >> bytes) keep_smaller(limit, bytes);
  }
  return limit;
}

}  // namespace

MemoryUse memory_figures(c10::Device device) {
  MemoryUse use;
  use.resident = status_bytes("VmRSS");
  use.peak = status_bytes("VmHWM");
  use.limit = memory_limit();
  if (device.is_cpu()) return use;
  const auto stats = at::accelerator::getDeviceStats(device.index());
  // The first of each: of all pools together.
  use.device_allocated = stats.allocated_bytes[0].current;
  use.device_peak = stats.allocated_bytes[0].peak;
  use.device_reserved = stats.reserved_bytes[0].current;
  return use;
}

}  // namespace muster
