#pragma once

#include "topology/sysroot.hpp"

#include <cstdint>
#include <string>

namespace muster::launcher {

/// How the host's processors are built, allowed to us or not.
struct Layout {
  int packages = 1;  ///< Sockets.
  int numa_nodes = 1;
  int cores = 1;
  int threads = 1;                ///< Logical CPUs.
  std::uint64_t cache_bytes = 0;  ///< Last-level caches, all together; 0 if unknown.
  std::string source;             ///< "hwloc 2.9", or "sysfs" and why.
};

/// Asks hwloc, loaded for this (4 to 12 ms); without it, or for a recorded machine, reads sysfs.
Layout discover_layout(const Sysroot& root);

}  // namespace muster::launcher
