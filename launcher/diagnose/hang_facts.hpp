#pragma once

#include <muster/control.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::launcher {

/// One call on a stack.
struct StackFrame {
  std::uint64_t address = 0;
  std::string function;      ///< Without parameters; empty if the file names none there.
  std::string module;        ///< "libc.so.6"; empty: no file is mapped there.
  std::uint64_t offset = 0;  ///< In the file's own addresses, as debuggers show them.

  bool operator==(const StackFrame&) const = default;
};

/// What one thread of a rank was doing.
struct ThreadStack {
  int thread = 0;
  std::string name;
  std::vector<StackFrame> frames;  ///< Innermost first.
  std::string end;  ///< Why the frames end before the thread's first; empty if they do not.

  bool operator==(const ThreadStack&) const = default;
};

/// One rank, as it was found.
struct RankState {
  int rank = 0;
  int pid = 0;
  bool ended = false;
  int exit_code = 0;         ///< ended
  int signal = 0;            ///< ended: what it died of; 0: it exited.
  bool ready = false;        ///< It has said READY: the program uses our runtime.
  bool tells_stack = false;  ///< It answers SIGURG with its stack; others may take that amiss.
  std::optional<ControlNote>
      note;                  ///< Of the memory that it shares with us; all zero: it said nothing.
  std::int64_t step_ns = 0;  ///< When it last told of a step; 0: never.
  char state = 0;            ///< As in /proc: R, S, D, T, t, Z; 0: not known.
  int tracer = 0;            ///< Process that traces it: a debugger.
  std::string tracer_name;
  std::string waits_in;              ///< The kernel's function that it sleeps in; empty: not known.
  std::vector<ThreadStack> threads;  ///< The first is the one that main() runs in.
  std::size_t unseen_threads = 0;    ///< That there were too many of, or no time for.
  std::string unread;                ///< Why there is no stack.
  std::vector<std::string> python;   ///< What py-spy says, line by line.
};

/// Why ranks were looked at.
struct HangCause {
  enum class Kind {
    asked,     ///< SIGQUIT.
    deadline,  ///< A rank waited too long for a collective.
    mismatch,  ///< Ranks are in collectives that do not fit together.
    lost,      ///< A rank misses another one that did not fail.
    stall,     ///< A rank's step stands still.
  };
  Kind kind = Kind::asked;
  int rank = -1;       ///< Who noticed it.
  std::string text;    ///< What that rank knows of it.
  double seconds = 0;  ///< stall: how long.
};

/// All that is known of a job that may hang.
struct HangFacts {
  HangCause cause;
  std::int64_t now_ns = 0;       ///< CLOCK_MONOTONIC when they were gathered.
  std::vector<RankState> ranks;  ///< Of this host, in rank order.
  int world_size = 0;
};

}  // namespace muster::launcher
