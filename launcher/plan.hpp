#pragma once

#include <muster/world.hpp>

#include "variables.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace muster::launcher {

/// One rank, decided whole before anything starts.
struct ProcessSpec {
  World world;                    ///< Who the rank is.
  std::string host;               ///< The host it runs on, as people call it.
  std::vector<std::string> argv;  ///< argv[0] is searched in PATH unless it holds a slash.
  Variables set;                  ///< Added to, or replacing, the launcher's environment.
  /// Removed from it; `set` wins. Kept once for all ranks.
  std::shared_ptr<const std::vector<std::string>> unset =
      std::make_shared<std::vector<std::string>>();
  std::string device;       ///< "cpu", or the device as CUDA_VISIBLE_DEVICES names it.
  std::string device_name;  ///< For people: "H200"; empty for cpu.
  int threads = 1;          ///< OMP_NUM_THREADS, also when the user set it.
  std::vector<int> cpus;    ///< It runs on these only; empty: on all that muster may use.
  int memory_node = -1;     ///< The NUMA node that its memory comes from first; -1: any.
  bool bind_asked = false;  ///< A person asked for these two: a refusal is told.
  std::string nic;          ///< For people: the InfiniBand device nearest to its device.
};

/// A host of a job that has several.
struct PlanNode {
  std::string host;     ///< Empty: not known before the hosts meet.
  std::string address;  ///< Literal; empty: not known.
  int first_rank = 0;
  int ranks = 1;
};

/// What a host does for the job: all of it, if there is one host.
struct Plan {
  std::vector<ProcessSpec> ranks;  ///< Of this host, in rank order.
  std::string run_id;
  std::string run_directory;    ///< The job's private folder; empty in a dry run.
  bool prefix_asked = false;    ///< A person gave the prefix: one rank alone gets it too.
  std::vector<PlanNode> nodes;  ///< All hosts, in the order of their ranks; empty: only this one.
  int wrapped_alone = -1;     ///< The place of the one rank that --wrap is for; -1: none, several.
  bool input_chosen = false;  ///< A person said who gets our input.
  bool stop_on_exec = false;  ///< Ranks stop at the start of their program.
  std::string unknown;        ///< A dry run: what is only known once the hosts meet.
  std::string why_ranks;      ///< Why this many, if it was chosen for the user; else empty.
  std::string bind_note;      ///< Why ranks are not bound as it was asked for; else empty.

  /// The rank of that number in the world; null if another host has it.
  const ProcessSpec* find(int rank) const {
    const int at = ranks.empty() ? -1 : rank - ranks.front().world.rank;
    const bool here = at >= 0 && static_cast<std::size_t>(at) < ranks.size();
    return here ? &ranks[static_cast<std::size_t>(at)] : nullptr;
  }
};

}  // namespace muster::launcher
