#include "planning/dry_run.hpp"

#include <algorithm>

namespace muster::launcher {

bool is_decided_at_start(const ProcessSpec& spec, const std::string& name) {
  if (name == "MASTER_PORT") return spec.world.master_port == 0;
  return name == "TORCHELASTIC_RUN_ID" || name == "TORCHELASTIC_ERROR_FILE";
}

std::vector<std::string> removed_variables(const ProcessSpec& spec,
                                           const Environment& environment) {
  std::vector<std::string> removed;
  for (const auto& name : *spec.unset) {
    const bool twice = std::find(removed.begin(), removed.end(), name) != removed.end();
    if (!twice && environment.contains(name) && !spec.set.contains(name)) removed.push_back(name);
  }
  return removed;
}

const std::vector<int>& cpus_of(const ProcessSpec& spec, const Cpus& cpus) {
  return spec.cpus.empty() ? cpus.allowed : spec.cpus;
}

}  // namespace muster::launcher
