#pragma once

#include <muster/control.hpp>
#include <muster/setting_names.hpp>
#include <muster/settings.hpp>

#include "diagnose/hang_facts.hpp"
#include "plan.hpp"
#include "port.hpp"
#include "supervise/memory_watch.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::launcher {

class NodeLink;

/// How a job ended, in one word.
enum class OutcomeKind { ok, usage, not_started, rank_failed, timeout, interrupted, lost };

/// How one rank ended.
struct RankEnd {
  int rank = 0;
  int pid = 0;
  int exit_code = 0;  ///< Its own code, or 128 + signal.
  int signal = 0;     ///< 0: it exited.
  bool core_dumped = false;
  std::string core;                     ///< Where the core dump is, for people.
  bool stopped_by_us = false;           ///< It ended because muster signalled it.
  bool out_of_memory = false;           ///< SIGKILL came from the kernel: Outcome::memory.
  double started = 0;                   ///< Seconds after the job did.
  double seconds = 0;                   ///< From its start to its end.
  std::string reason;                   ///< Of its death record; empty without one.
  std::string text;                     ///< The exception's text, as far as it is known.
  std::string call_stack;               ///< Of the exception; empty if the program told none.
  std::vector<std::string> last_lines;  ///< Of its stderr, else of its stdout, oldest first.
  bool shown = true;                    ///< Its output went to the console.
  std::string stdout_log, stderr_log;   ///< Its files below --log-dir; empty: none.
  ControlNote last;  ///< Of our runtime: its newest collective (sequence 0: none), step.
  std::uint64_t checkpoint = 0;  ///< The newest that it reported.
  std::string host;              ///< Of a rank of another host, which no plan of ours has.
  int local_rank = -1;           ///< The same.
};

/// What happened to the job.
struct Outcome {
  OutcomeKind kind = OutcomeKind::ok;
  int exit_code = 0;             ///< The launcher's.
  std::optional<RankEnd> first;  ///< The rank that failed first.
  std::vector<RankEnd> ranks;    ///< All that were started, in rank order.
  /// Ranks that had ended with 0 before `first` failed for want of a peer: it may have waited for
  /// them.
  std::vector<int> left_early;
  std::optional<MemoryKills> memory;  ///< Processes of the job that the kernel has killed.
  /// interrupted: the signal that ended the job; rank_failed: one that came while it was ended.
  int signal = 0;
  bool from_terminal = false;  ///< It was the terminal's Ctrl-C.
  /// One line: what no rank explains (not_started, lost, timeout), and, of any kind, processes that
  /// did not end.
  std::string message;
  std::vector<int> left;                          ///< Processes that did not end.
  std::chrono::system_clock::time_point started;  ///< The job's start; 0: it never did.
  double seconds = 0;
  std::string where;             ///< The other host on which what ended the job began; empty: here.
  std::int64_t began_ns = 0;     ///< When that was: CLOCK_MONOTONIC.
  bool by_others = false;        ///< Ranks were ended because another host said so.
  bool consequence = false;      ///< `first` failed, by its own words, because another rank had.
  bool ready_seen = false;       ///< A rank said READY: the program uses our runtime.
  std::vector<HangFacts> hangs;  ///< That were told while it ran.
  std::vector<Outcome> earlier;  ///< Starts that failed and were followed by another, oldest first.
};

/// Opens /dev/null in the place of each of stdin, stdout and stderr that is closed, so that no file
/// of ours takes its number. The first thing that a program does.
void open_standard_descriptors();

/// What supervise() has to know of the job besides this start of its ranks.
struct JobContext {
  std::chrono::nanoseconds elapsed{0};  ///< Since its first start: what `timeout` counts from.
  SettingNames names;                   ///< How messages name settings.
  /// To the launchers of the other hosts, if there are any: all return when all are done, with the
  /// same end.
  NodeLink* link = nullptr;
  bool quiet = false;  ///< Of what is told of a hang, only the verdict is shown.
};

/// Starts launcher -> guardian -> ranks, looks after them until all are gone, and says how it
/// ended. Blocks. Must be called before the process has threads; takes over SIGCHLD, SIGINT,
/// SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGWINCH and SIGPIPE until it returns. The
/// ranks' output goes to stdout and stderr; the failure is not printed. As process 1, or where this
/// process has children already, it returns in a child that ends the same way
/// (supervise/init_process.hpp). `interrupted` by SIGPIPE says that the reader of our stdout is
/// gone: nothing is to be printed. Throws ConfigError, before anything is started, for settings
/// that do not fit the job, and Error (internal) if the guardian or its descriptors could not be
/// had; then no rank is left. May be called again when it has returned: signals that came in
/// between wait where a SignalHold lets them.
Outcome supervise(const Plan& plan, const LaunchSettings& settings, ReservedPort port,
                  const JobContext& context = {});

}  // namespace muster::launcher
