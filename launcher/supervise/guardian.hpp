#pragma once

#include "supervise/kill_tree.hpp"
#include "supervise/rank_image.hpp"
#include "supervise/spawn.hpp"
#include "unique_fd.hpp"

#include <span>
#include <string>
#include <sys/types.h>

namespace muster::launcher {

/// The process between launcher and ranks, as the launcher sees it.
struct GuardianHandle {
  pid_t pid = 0;
  UniqueFd socket;  ///< Orders go in, Events come out; its end means that the guardian is gone.
  JobTree tree;     ///< What the launcher kills if the guardian is gone.
};

/// Forks the guardian, which starts the ranks, obeys only its socket, and ends everything that the
/// job started when the socket ends; then it removes `run_directory` (none if empty) too. Signals
/// must be blocked (Signals), and there must be no thread. Throws Error if it cannot be forked.
GuardianHandle start_guardian(std::span<const RankImage> images, const Inherited& inherited,
                              const std::string& run_directory);

}  // namespace muster::launcher
