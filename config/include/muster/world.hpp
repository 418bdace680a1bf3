#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace muster {

/// Names and values of environment variables.
using Environment = std::map<std::string, std::string>;

/// The variables of this process.
Environment current_environment();

/// Who this process is in its job: plain data, the whole of what launcher and rank agree on.
struct World {
  int rank = 0;                           ///< 0 <= rank < size.
  int size = 1;                           ///< Ranks in all.
  int local_rank = 0;                     ///< Rank on this host; the index of its device.
  int local_size = 1;                     ///< Ranks on this host.
  int node_rank = 0;                      ///< Which host.
  int node_count = 1;                     ///< Hosts of the job.
  std::string master_addr = "127.0.0.1";  ///< Where rank 0's store listens: an IP, never a name.
  std::uint16_t master_port = 0;          ///< 0 in a world of one.
  std::chrono::milliseconds timeout{1'800'000};  ///< For one communication between ranks.
  int restart_count = 0;                         ///< How often the job was restarted.
  int max_restarts = 0;                          ///< How often it may be.
  std::string run_id = "none";                   ///< The job's identifier.

  bool operator==(const World&) const = default;

  /// Reads the torchelastic variables (RANK, WORLD_SIZE, LOCAL_RANK, ...) and
  /// MUSTER_LAUNCH_COMM_TIMEOUT. Without RANK and WORLD_SIZE the result is a world of one. Throws
  /// ConfigError naming each variable that is missing, malformed or contradicts another.
  static World from_environment(const Environment& environment);

  /// The variables from which from_environment reads this World again, with those that programs
  /// made for torchrun expect (ROLE_*, GROUP_*, TORCHELASTIC_*).
  Environment to_environment() const;
};

}  // namespace muster
