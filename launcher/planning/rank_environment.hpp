#pragma once

#include <muster/resolve.hpp>
#include <muster/world.hpp>

#include "devices/choose_devices.hpp"

#include <string>
#include <vector>

namespace muster::launcher {

/// The difference between the launcher's environment and that of its ranks, as far as all ranks
/// share it.
struct SharedEnvironment {
  Environment set;
  std::vector<std::string> unset;
  int threads = 1;  ///< OMP_NUM_THREADS, whoever chose it.
};

/// `computed_threads` is taken for OMP_NUM_THREADS unless the user set it.
/// Throws ConfigError for an `env` setting whose name the launcher itself decides.
SharedEnvironment shared_environment(const Resolution& resolution, const Environment& environment,
                                     int computed_threads);

/// CUDA_VISIBLE_DEVICES and what belongs to it, for one rank of this host.
Environment device_environment(const DeviceChoice& choice, int ranks, int local_rank);

}  // namespace muster::launcher
