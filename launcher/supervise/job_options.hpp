#pragma once

#include <muster/settings.hpp>

#include "plan.hpp"
#include "supervise.hpp"
#include "supervise/rank_set.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace muster::launcher {

/// The settings of supervision, checked and in the form that it needs.
struct JobOptions {
  std::vector<std::string> prefixes;  ///< Of each rank; empty: lines are passed on as they are.
  RankSet shown;                      ///< Ranks whose output is passed on.
  RankSet reading;                    ///< Ranks that get our input.
  bool copy_input = false;            ///< Several may read: each gets a copy.
  std::string log_dir;                ///< Where each rank's output is kept; empty: nowhere.
  bool colour = true;                 ///< Prefixes have a colour where they go to a terminal.
  std::chrono::nanoseconds grace{0};
  std::optional<std::chrono::nanoseconds> timeout;       ///< What is left of it.
  std::optional<std::chrono::nanoseconds> hang_timeout;  ///< Longest time without a step.
  bool quiet = false;
  int terminal = -1;  ///< The rank, by its place, that has our terminal to itself; -1: none.
  bool stop_on_exec = false;  ///< Ranks stop at the start of their program.

  bool prefixed() const noexcept { return !prefixes.empty(); }
  bool logs() const noexcept { return !log_dir.empty(); }
};

/// Throws ConfigError for text that means nothing or does not fit the job.
JobOptions job_options(const Plan& plan, const LaunchSettings& settings, const JobContext& context);

}  // namespace muster::launcher
