#pragma once

#include <muster/resolve.hpp>
#include <muster/settings.hpp>

#include "commands/run_job.hpp"
#include "devices/choose_devices.hpp"
#include "planning/make_plan.hpp"
#include "topology/topology.hpp"

#include <string>

namespace muster::launcher {

/// Runs this host's part of a job of several hosts: waits for the others, starts the ranks, and
/// ends as the whole job does. `job` says what to run; what only hosts together know is added to
/// it. Throws ConfigError if they do not agree, and Error if one does not come or ranks cannot be
/// started; the others are told.
JobEnd run_on_hosts(const CommandLine& line, const Resolution& resolution, const Topology& topology,
                    Job job);

/// For a dry run: the hosts as far as settings tell, and in `job.unknown` what they do not.
void plan_hosts(const Resolution& resolution, const DeviceChoice& devices, const std::string& host,
                Job& job);

/// Ranks of this host, as far as is known before hosts meet.
int least_ranks_here(const LaunchSettings& launch, const DeviceChoice& devices);

}  // namespace muster::launcher
