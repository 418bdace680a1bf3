#pragma once

#include "topology/sysroot.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// How the host's processors, memory and PCI devices lie to each other, allowed to us or not.
/// Lists of CPUs are ascending.
struct Layout {
  /// A part of the memory, and the CPUs next to it (none: memory alone).
  struct NumaNode {
    int id = 0;
    std::vector<int> cpus;
    std::uint64_t memory_bytes = 0;  ///< 0 if unknown.
    bool operator==(const NumaNode&) const = default;
  };
  /// A physical core with its hyperthreads.
  struct Core {
    std::vector<int> cpus;
    int node = 0;  ///< The id of its NUMA node.
    int package = 0;
    bool operator==(const Core&) const = default;
  };
  /// A device that reaches other hosts' memory (InfiniBand, RoCE).
  struct Nic {
    std::string name;  ///< "mlx5_0"
    std::string pci;   ///< "0000:01:00.0"
    bool operator==(const Nic&) const = default;
  };
  /// Where a PCI device hangs.
  struct PciPlace {
    std::string address;             ///< "0000:01:00.0"
    int node = -1;                   ///< The NUMA node next to it; -1 if none is nearer.
    std::vector<std::string> above;  ///< The bridges over it, from the root on.
    bool operator==(const PciPlace&) const = default;
  };

  int packages = 1;               ///< Sockets.
  int threads = 1;                ///< Logical CPUs.
  std::uint64_t cache_bytes = 0;  ///< Last-level caches, all together; 0 if unknown.
  std::vector<NumaNode> nodes;    ///< By id.
  std::vector<Core> cores;        ///< By node, then by first CPU.
  std::vector<PciPlace> pci;      ///< By address.
  std::vector<Nic> nics;          ///< By address, then name.
  std::string source;             ///< "hwloc 2.9", or "sysfs" and why.

  /// Null if there is no such device.
  const PciPlace* find_pci(std::string_view address) const;
};

/// Brings the lists into their order.
void sort_layout(Layout& layout);

/// Asks hwloc, loaded for this (4 to 12 ms); without it, or for a recorded tree, reads sysfs.
Layout discover_layout(const Sysroot& root);

/// How many of two devices' bridges are the same: the more, the nearer they are.
int shared_bridges(const Layout::PciPlace& a, const Layout::PciPlace& b);

}  // namespace muster::launcher
