#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace muster::launcher {

/// A line of /proc/<pid>/stat, as far as it matters here.
struct ProcessState {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  bool dead = false;   ///< Only its exit status is left.
  bool dying = false;  ///< Exiting, or dumping core: it no longer obeys a signal.
};

/// Nothing if there is no such process.
std::optional<ProcessState> process_state(pid_t pid);

/// Children of all its threads, in no order; those that are dead but not reaped included.
std::vector<pid_t> children_of(pid_t pid);

/// Everything below `pid` that still lives, parents before their children. What forks meanwhile may
/// be missed: ask again until nothing new is found.
std::vector<ProcessState> descendants_of(pid_t pid);

/// Whether the environment with which a process was started has `text` in it; false where we may
/// not read it.
bool environment_has(pid_t pid, const std::string& text);

/// All living processes of which environment_has() holds, but for this one.
std::vector<ProcessState> processes_with(const std::string& text);

}  // namespace muster::launcher
