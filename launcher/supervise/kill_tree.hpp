#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace muster::launcher {

/// What a job has started, seen from a process above it: everything below that process, and, where
/// orphans do not come back to it, whatever carries the job's mark.
class JobTree {
 public:
  /// `mark` is a text that only processes of the job have in their environment; empty where this
  /// process is a subreaper and needs none.
  explicit JobTree(std::string mark = {}) : mark_(std::move(mark)) {}

  /// `signal` to each process for which `wanted` (its pid, its group) holds.
  void signal(int signal, const std::function<bool(pid_t, pid_t)>& wanted) const;

  /// Stops everything and kills it, what it forks meanwhile as well, until nothing is left.
  /// `reap` is called again and again to collect the dead. SIGCHLD must be blocked. Returns
  /// processes that still live when `limit` is over; there are some only if the kernel does not let
  /// them die, or us kill them.
  std::vector<pid_t> kill(std::chrono::milliseconds limit, const std::function<void()>& reap) const;

 private:
  struct Family;
  Family find() const;
  void signal_seen(pid_t pid, const Family& family, int signal) const;
  Family stop_all() const;

  std::string mark_;
};

/// Waits until a child ends, at most that long. SIGCHLD must be blocked.
void wait_for_child(std::chrono::milliseconds limit);

}  // namespace muster::launcher
