#pragma once

#include <muster/settings.hpp>
#include <muster/world.hpp>

#include "plan.hpp"
#include "topology/cpus.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// What the machine-readable forms of a dry run are made from.
struct DryRun {
  const Plan& plan;
  const LaunchSettings& settings;
  const Cpus& cpus;
  const Environment& environment;  ///< The launcher's own.
};

/// One object: `ranks` with argv, the variables each gets, CPUs, memory node and device; `unset`;
/// and in `decided_at_start` the variables that are only known when the job runs. Values of secret
/// names are not in it.
std::string plan_json(const DryRun& run);

/// A POSIX shell script that starts the same ranks without muster. Values of secret names are not
/// in it: they have to be in the environment it runs in.
std::string plan_script(const DryRun& run);

/// Whether a dry run cannot know the value that this rank will get: the port, the job's id and its
/// private folder.
bool is_decided_at_start(const ProcessSpec& spec, const std::string& name);

/// The variables of `environment` that ranks will not have, each once.
std::vector<std::string> removed_variables(const ProcessSpec& spec, const Environment& environment);

/// The CPUs the rank may use, bound or not.
const std::vector<int>& cpus_of(const ProcessSpec& spec, const Cpus& cpus);

}  // namespace muster::launcher
