#pragma once

#include "topology/cgroup.hpp"
#include "topology/sysroot.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace muster::launcher {

/// What the kernel counted while a job ran: processes that it killed for lack of memory.
struct MemoryKills {
  std::uint64_t count = 0;
  bool on_host = false;  ///< Counted for the whole host: it has no counter of a group.
  std::optional<std::uint64_t> limit;  ///< Bytes, of the control group that sets the smallest.
  std::string group;                   ///< That one.
  std::optional<std::uint64_t> peak;   ///< The most that it used, bytes.
};

/// The proof of an out-of-memory kill: the counters of our control group, version 1 or 2, which
/// ranks inherit; where it has none those of the host.
class MemoryWatch {
 public:
  /// Counts from now on. `root` is what is read: this host, or a recorded one.
  explicit MemoryWatch(Sysroot root);
  ~MemoryWatch() = default;
  MemoryWatch(const MemoryWatch&) = delete;  // The groups refer to the root.
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  /// Whether a process more was killed than was asked for before: a rank that died of SIGKILL was
  /// killed for lack of memory. The counter goes up before the process dies.
  bool claim_kill();
  /// Nothing if no process was killed so far.
  std::optional<MemoryKills> kills() const;

 private:
  std::optional<std::uint64_t> count() const;

  Sysroot root_;
  Cgroups cgroups_;
  bool on_host_;
  std::optional<std::uint64_t> before_;
  std::uint64_t claimed_ = 0;
};

}  // namespace muster::launcher
