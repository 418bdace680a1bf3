#pragma once

#include <cstdint>

namespace muster::launcher {

/// How far a rank came before its program ran.
enum class StartStage : std::int32_t { fork, affinity, memory, limits, descriptors, exec };

/// What the guardian tells the launcher: one datagram each.
struct Event {
  enum class Kind : std::int32_t {
    not_started,  ///< `stage` and `error`: this rank's program does not run.
    warning,      ///< `stage` and `error`: it runs, but not quite as asked.
    started,      ///< The rank has a process, `pid`.
    ended,        ///< `code` or `signal`.
    unkillable,   ///< A process (of no rank if `rank` is -1) is still there after SIGKILL.
    all_gone,     ///< Nothing of the job is left; the guardian's last word.
  };
  Kind kind = Kind::all_gone;
  std::int32_t rank = -1;  ///< Its place among the ranks of this host.
  std::int32_t pid = 0;
  StartStage stage = StartStage::fork;
  std::int32_t error = 0;   ///< An errno.
  std::int32_t code = 0;    ///< ended: the exit code.
  std::int32_t signal = 0;  ///< ended: what it died of; 0 if it exited.
  std::int32_t core_dumped = 0;
  std::int32_t signalled = 0;     ///< ended: after it had been told to, and not on its way before.
  std::int64_t monotonic_ns = 0;  ///< When it was seen: CLOCK_MONOTONIC.
};

/// What the launcher tells the guardian: one datagram each.
struct Order {
  enum class Kind : std::int32_t {
    end,      ///< `signal` to whatever belongs to the job; its stopped processes are continued.
    pass_on,  ///< `signal` to whatever belongs to the job.
    notify,   ///< `signal` to the ranks' own processes only, or to that of `rank`.
    kill,     ///< SIGKILL, until nothing is left.
  };
  Kind kind = Kind::kill;
  std::int32_t signal = 0;
  std::int32_t rank = -1;  ///< notify: -1 is all.
};

/// What a rank's process tells the guardian before its program runs, through a pipe.
struct StartRecord {
  std::int32_t rank = 0;
  StartStage stage = StartStage::fork;
  std::int32_t error = 0;
  std::int32_t fatal = 1;
};

}  // namespace muster::launcher
