#pragma once

#include "topology/sysroot.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace muster::launcher {

/// A device that computes and is not NVIDIA's. muster gives ranks none of these: a program picks
/// its own by LOCAL_RANK.
struct OtherDevice {
  std::string maker;               ///< "AMD", "Intel"
  std::string model;               ///< "gfx942"; empty if files do not tell.
  std::string pci;                 ///< "0000:01:00.0"
  std::uint64_t memory_bytes = 0;  ///< 0 if unknown, or shared with the host.
  int node = -1;                   ///< The NUMA node next to it; -1 if the host does not tell.
  std::string note;                ///< Why it cannot be used; empty if it can.
};

/// AMD's by the kernel's list of what computes (/sys/class/kfd), Intel's by their render files; the
/// display of a board controller has neither.
std::vector<OtherDevice> discover_others(const Sysroot& root);

}  // namespace muster::launcher
