#pragma once

#include <chrono>
#include <functional>
#include <sys/types.h>
#include <vector>

namespace muster::launcher {

/// Sends `signal` to each process below this one of which `wanted(pid, group)` is true.
void signal_descendants(int signal, const std::function<bool(pid_t, pid_t)>& wanted);

/// SIGKILLs all processes below this one, which must be a subreaper with SIGCHLD blocked, until
/// none lives or `limit` has passed. They are stopped first, so that none can fork away. `reap` is
/// called again and again: to collect those that ended. Returns what is still alive.
std::vector<pid_t> kill_descendants(std::chrono::milliseconds limit,
                                    const std::function<void()>& reap);

}  // namespace muster::launcher
