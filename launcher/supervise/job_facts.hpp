#pragma once

#include "supervise.hpp"
#include "supervise/blame.hpp"
#include "supervise/control_server.hpp"
#include "supervise/error_file.hpp"
#include "supervise/memory_watch.hpp"
#include "supervise/protocol.hpp"
#include "supervise/start_fault.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::launcher {

/// Why a job ended, or is being ended.
enum class Cause {
  none,
  not_started,
  rank_failed,
  signal,
  timeout,
  stalled,
  broken_output,
  guardian_lost,
  other_host,  ///< Another host's launcher said so.
};

/// What became of one rank.
struct RankFacts {
  int pid = 0;
  std::int64_t started_ns = 0;
  bool ended = false;
  Event end;
  bool out_of_memory = false;  ///< The kernel killed it.
  RankRecord record;
  std::optional<ControlNote> note;
  std::optional<ErrorFile> error_file;
  std::string core;   ///< Where its core dump is.
  bool shown = true;  ///< On the console.
  std::string stdout_log, stderr_log;
  std::vector<Tail::Line> stderr_lines;
  std::vector<std::string> last_lines;
};

/// All that is known when nothing of a job is left.
struct JobFacts {
  Cause cause = Cause::none;
  int first_rank = 0;  ///< The number that the first of `ranks` has in the world.
  std::int64_t started_ns = 0;
  std::int64_t stopped_ns = 0;  ///< When we began to end it.
  int signal = 0;
  int signal_after = 0;  ///< One that came from outside while the ranks of a failed job were ended.
  bool from_terminal = false;
  StartFault fault;     ///< not_started
  std::string timeout;  ///< For people.
  HangCause stalled;
  std::string hang_timeout;      ///< How the setting behind it was given.
  std::vector<HangFacts> hangs;  ///< The first and the newest that were told, in order.
  int guardian_pid = 0;
  std::optional<MemoryKills> memory;
  std::vector<int> unkillable;  ///< Processes that SIGKILL did not end.
  std::vector<RankFacts> ranks;
};

/// What is said of it. Pure, but for the time that the job took.
Outcome outcome_of(const JobFacts& facts);

}  // namespace muster::launcher
