#include "wizard/facts.hpp"

#include "devices/choose_devices.hpp"

#include <fmt/core.h>

#include <map>

namespace muster::launcher {

std::string found_text(const WizardFacts& facts) {
  const auto seen = choose_devices({}, facts.environment, facts.topology.nvidia);
  std::map<std::string, int> models;
  for (const auto& device : seen.devices) ++models[device.model];
  std::string text;
  for (const auto& [model, count] : models) {
    text += fmt::format("{} NVIDIA {}, ", count, model.empty() ? "device" : model);
  }
  if (text.empty()) text = "no NVIDIA device, ";
  const int cores = facts.topology.cpus.cores;
  return text + fmt::format("{} {}", cores, cores == 1 ? "core" : "cores");
}

}  // namespace muster::launcher
