#pragma once

#include "supervise/rank_image.hpp"

#include <cstddef>
#include <span>
#include <sys/resource.h>
#include <sys/types.h>

namespace muster::launcher {

/// What the launcher changed of itself and a rank must find as it was.
struct Inherited {
  bool pipe_ignored = false;   ///< SIGPIPE was ignored.
  bool child_ignored = false;  ///< SIGCHLD was.
  bool size_ignored = false;   ///< SIGXFSZ was.
  pid_t launcher = 0;          ///< Whose children may look into the rank.
  bool stop_on_exec = false;   ///< It stops before its program's first instruction.
  bool files_raised = false;   ///< `files` was raised.
  rlimit files{};              ///< RLIMIT_NOFILE as it was.
};

/// Forks a rank, which becomes its program in a session of its own and dies with the caller's
/// thread. Does not wait for it: failures come as StartRecords through `records`, a pipe whose
/// end says that all programs run. Returns -1 (errno) if there is no new process.
/// Until its program runs it may use `stack` (StartStacks) and the image, in the caller's memory;
/// it has a copy of all if `stack` is empty, as it must be with Inherited::stop_on_exec. Must be
/// called from the main thread of a process without other threads.
pid_t fork_rank(const RankImage& image, const Inherited& inherited, int records,
                std::span<std::byte> stack);

/// With Inherited::stop_on_exec: waits until the rank's program is there, and leaves it stopped as
/// by SIGSTOP. One that ended before stays unreaped. Must be called where it was forked.
void stop_at_start(pid_t rank);

}  // namespace muster::launcher
