#pragma once

#include <muster/world.hpp>

#include "topology/layout.hpp"
#include "topology/memory.hpp"
#include "topology/network.hpp"
#include "topology/topology.hpp"

#include <string>
#include <vector>

namespace muster::launcher {

/// All that `muster env` shows of a host.
struct Machine {
  std::string system;     ///< "Debian GNU/Linux 12 (bookworm)"
  std::string kernel;     ///< "Linux 6.1.0"
  std::string processor;  ///< "AMD EPYC 9654 96-Core Processor"
  std::vector<std::string>
      features;         ///< Instructions that matter to training: avx2, avx512, bf16, amx.
  std::string cgroups;  ///< "v2", "v1 and v2", ...
  Layout layout;
  Topology topology;
  Memory memory;
  std::vector<std::string> device_notes;  ///< Devices that are there and cannot be used, and why.
  std::vector<NetworkInterface> network;
  std::string scheduler;  ///< "Slurm job 17 (SLURM_JOB_ID)"; empty for none.
};

Machine discover_machine(const Sysroot& root, const Environment& environment, NvmlUse nvml);

}  // namespace muster::launcher
