#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

/// What /proc says of a process.
namespace muster::launcher {

/// The process's first thread first; empty if it is gone.
std::vector<pid_t> threads_of(pid_t pid);

std::string thread_name(pid_t pid, pid_t thread);

bool has_ended(pid_t pid, pid_t thread);

/// The thread through which the process can be asked: the first, or, if that has ended, another.
pid_t living_thread(pid_t pid);

/// The letter of its state, its tracer and what the kernel lets it sleep in; if its first thread
/// has ended, those of another.
struct ProcessView {
  char state = 0;  ///< 0: it is gone.
  int tracer = 0;
  std::string tracer_name;
  std::string waits_in;
};
ProcessView view_of(pid_t pid);

/// The file that it runs; empty if that may not be known.
std::string executable_of(pid_t pid);

/// /proc/<pid>/maps; empty if it may not be read.
std::string maps_of(pid_t pid);

/// Why PTRACE_SEIZE failed with `error`, and what would let it succeed.
std::string why_not_traced(pid_t pid, int error);

}  // namespace muster::launcher
