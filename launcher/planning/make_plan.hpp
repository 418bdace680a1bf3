#pragma once

#include <muster/resolve.hpp>
#include <muster/world.hpp>

#include "plan.hpp"
#include "topology/topology.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace muster::launcher {

/// What a plan is made from, besides settings and this host.
struct Job {
  std::vector<std::string> program;  ///< Its name and arguments.
  bool module = false;               ///< The name is a Python module.
  Environment environment;           ///< The launcher's own.
  std::string run_id;
  std::string run_directory;          ///< Where ranks leave their error files.
  std::string address = "127.0.0.1";  ///< Literal: where rank 0 will listen.
  std::uint16_t port = 0;             ///< 0: not known yet (a dry run).
  int restart_count = 0;              ///< How often its ranks were started before.
  std::vector<PlanNode> nodes{};      ///< Of several hosts; empty: this one alone.
  int node_rank = 0;                  ///< Which of them this is.
  std::string unknown{};              ///< For Plan.
  /// Called after each start when its ranks have ended, before the folder goes. Ranks that are to
  /// leave something for it are told the folder.
  std::function<void(const Plan&)> collect{};
};

/// Decides everything about every rank; starts and changes nothing.
/// Throws ConfigError for what this host cannot do.
Plan make_plan(const Resolution& resolution, const Topology& topology, const Job& job);

}  // namespace muster::launcher
