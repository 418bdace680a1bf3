#pragma once

#include <muster/resolve.hpp>

#include "arguments/command_line.hpp"
#include "planning/make_plan.hpp"
#include "supervise.hpp"

#include <string>

namespace muster::launcher {

/// How a job ended, and the plan of its last start.
struct JobEnd {
  Plan plan;
  Outcome outcome;
};

/// The one line of a launch that decided something by itself: how many ranks (`why`), or that it
/// took a file.
void announce_choices(const Resolution& resolution, const std::string& why,
                      const Environment& environment);

/// The same and, with --verbose, the whole plan.
void announce_start(const CommandLine& line, const Resolution& resolution, const Topology& topology,
                    const Job& job, const Plan& plan);

/// Runs a job to its end. After a failure that `max_restarts` and `restart_on` cover all ranks are
/// started again, each time with a folder, a port, a plan and a guardian of their own, and one line
/// says so. `job` says what to run; its port is the one asked for. Throws as supervise() and
/// make_plan() do if the ranks cannot be started the first time.
JobEnd run_job(const CommandLine& line, const Resolution& resolution, const Topology& topology,
               Job job);

}  // namespace muster::launcher
