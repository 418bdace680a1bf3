#pragma once

#include <muster/world.hpp>

#include "topology/topology.hpp"

#include <string>

namespace muster::launcher {

/// What the wizard knows of the machine.
struct WizardFacts {
  Topology topology;
  Environment environment;  ///< CUDA_VISIBLE_DEVICES counts.
};

/// "2 NVIDIA H200, 24 cores": the devices that programs here would see. Throws ConfigError for a
/// CUDA_VISIBLE_DEVICES that names what this host does not have.
std::string found_text(const WizardFacts& facts);

}  // namespace muster::launcher
