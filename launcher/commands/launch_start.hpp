#pragma once

#include <muster/resolve.hpp>
#include <muster/world.hpp>

#include "arguments/command_line.hpp"
#include "commands/run_job.hpp"
#include "devices/choose_devices.hpp"
#include "planning/make_plan.hpp"
#include "topology/topology.hpp"

#include <functional>

namespace muster::launcher {

/// What has to be known of a job before it is planned.
struct JobDraft {
  Topology topology;
  DeviceChoice devices;
  Job job;
};

/// What `line.program` needs to be started as ranks; nothing is started. Throws ConfigError for
/// settings that do not fit.
JobDraft draft_job(const CommandLine& line, const Resolution& resolution,
                   const Environment& environment);

/// Runs the job to its end, on this host or as one of several.
JobEnd start_job(const CommandLine& line, const Resolution& resolution, JobDraft draft);

/// Both, for ranks that check this machine: `collect` reads what they found, after each start,
/// before the job's folder goes.
JobEnd start_job(const CommandLine& line, const Resolution& resolution,
                 const Environment& environment, const std::function<void(const Plan&)>& collect);

}  // namespace muster::launcher
