#pragma once

#include <muster/world.hpp>

#include "topology/memory.hpp"
#include "topology/network.hpp"
#include "topology/others.hpp"
#include "topology/topology.hpp"

#include <string>
#include <vector>

namespace muster::launcher {

/// All that `muster env` shows of a host.
struct Machine {
  std::string system;        ///< "Debian GNU/Linux 12 (bookworm)"
  std::string kernel;        ///< "Linux 6.1.0"
  std::string architecture;  ///< "x86_64"
  std::string processor;     ///< "AMD EPYC 9654 96-Core Processor"
  std::vector<std::string>
      features;         ///< Instructions that matter to training: avx2, avx512, bf16, amx.
  std::string cgroups;  ///< "v2", "v1 and v2", ...
  Topology topology;    ///< With its layout.
  Memory memory;
  std::vector<std::string> device_notes;  ///< Devices that are there and cannot be used, and why.
  std::vector<OtherDevice> others;        ///< That ranks are not given.
  std::vector<NetworkInterface> network;
  std::vector<RdmaPort> rdma;
  std::string scheduler;  ///< "Slurm job 17 (SLURM_JOB_ID)"; empty for none.
};

/// The scheduler whose variables are in `environment`: "Slurm job 17 (SLURM_JOB_ID)"; empty for
/// none.
std::string scheduler_of(const Environment& environment);

Machine discover_machine(const Sysroot& root, const Environment& environment, NvmlUse nvml);

}  // namespace muster::launcher
