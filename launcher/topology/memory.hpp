#pragma once

#include "topology/cgroup.hpp"
#include "topology/sysroot.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace muster::launcher {

/// Memory and the limits around it, in bytes.
struct Memory {
  std::uint64_t total = 0;              ///< Of the host.
  std::optional<std::uint64_t> limit;   ///< Of a control group, where it is below the total.
  std::string limit_group;              ///< The group that sets it.
  std::optional<std::uint64_t> shared;  ///< Size of /dev/shm; nothing if there is none.
  std::uint64_t open_files = 0;         ///< Descriptors a process may have; 0: unlimited.

  std::uint64_t usable() const { return limit ? *limit : total; }
};

Memory discover_memory(const Sysroot& root, const Cgroups& cgroups);

}  // namespace muster::launcher
