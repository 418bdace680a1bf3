#pragma once

#include "supervise/protocol.hpp"
#include "unique_fd.hpp"

#include <cstddef>
#include <optional>
#include <sys/types.h>
#include <vector>

namespace muster::launcher {

/// The guardian's children that are ranks. Those that ended stay unreaped, so that no other process
/// can get their number, or their group's, while something may still be sent to it.
class RankProcesses {
 public:
  struct Process {
    pid_t pid = 0;
    int rank = 0;
    UniqueFd pidfd;  ///< Readable once it has ended; none where the kernel denies it.
    bool ended = false;
    bool signalled = false;  ///< Was told to end before it was on its way by itself.
  };

  explicit RankProcesses(std::size_t count) { processes_.reserve(count); }

  void add(pid_t pid, int rank);
  void open_pidfds();

  std::vector<Process>& all() noexcept { return processes_; }
  std::size_t living() const noexcept { return living_; }
  bool contains(pid_t pid) const noexcept;

  /// How `process` ended, the first time it is asked after that; nothing while it lives.
  std::optional<Event> end_of(Process& process);
  /// Remembers that those which still live, and are not dying already, are told to end.
  void mark_signalled();
  /// `signal` to the groups of all ranks, also of those that ended.
  void signal_groups(int signal) const;
  /// `signal` to the living ranks alone, or to one of them.
  void signal_ranks(int signal, int rank) const;
  /// Collects children that are not ranks: orphans of the job.
  void reap_adopted() const;
  /// Collects the ranks that ended. Nothing may be sent to their groups any more.
  void reap_ended() const;

 private:
  std::vector<Process> processes_;
  std::size_t living_ = 0;
};

}  // namespace muster::launcher
