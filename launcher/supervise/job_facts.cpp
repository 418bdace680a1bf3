#include "job_facts.hpp"

#include <muster/error.hpp>

#include "screen/screen.hpp"
#include "supervise/exception_text.hpp"
#include "supervise/kernel.hpp"

#include <algorithm>
#include <csignal>

namespace muster::launcher {
namespace {

constexpr double ns_in_second = 1e9;

double seconds_between(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) / ns_in_second;
}

/// The most trusted of what a rank says of its failure.
void add_words(const RankFacts& facts, RankEnd& end) {
  if (facts.record.death) {
    end.reason = facts.record.death->reason;
    end.text = facts.record.death->text;
  }
  end.last_lines = facts.last_lines;
  if (end.exit_code == 0) return;
  if (facts.error_file) {
    if (end.text.empty()) end.text = facts.error_file->message;
    end.call_stack = facts.error_file->call_stack;
  }
  if (!end.text.empty()) return;
  std::vector<std::string> lines;  // More than are shown: a call stack may be long.
  for (const Tail::Line& line : facts.stderr_lines) lines.push_back(line.text);
  end.text = exception_text(lines);
}

RankEnd rank_end(int rank, const RankFacts& facts, std::int64_t job_started_ns) {
  RankEnd end;
  end.rank = rank;
  end.pid = facts.pid;
  // One that SIGKILL did not end is counted as if it had.
  end.signal = facts.ended ? facts.end.signal : SIGKILL;
  end.exit_code = end.signal != 0 ? 128 + end.signal : facts.end.code;
  end.core_dumped = facts.end.core_dumped != 0;
  end.stopped_by_us = !facts.ended || facts.end.signalled != 0;
  const std::int64_t end_ns = facts.ended ? facts.end.monotonic_ns : monotonic_ns();
  end.started = seconds_between(job_started_ns, facts.started_ns);
  end.seconds = seconds_between(facts.started_ns, end_ns);
  end.out_of_memory = facts.out_of_memory;
  end.core = facts.core;
  end.shown = facts.shown;
  end.stdout_log = facts.stdout_log;
  end.stderr_log = facts.stderr_log;
  add_words(facts, end);
  if (facts.note) end.last = *facts.note;
  end.last.step = std::max(end.last.step, facts.record.step);
  end.checkpoint = facts.record.checkpoint;
  return end;
}

Evidence evidence_of(const RankFacts& facts, const RankEnd& end) {
  Evidence evidence{.exit_code = end.exit_code,
                    .signal = end.signal,
                    .core_dumped = end.core_dumped,
                    .stopped_by_us = end.stopped_by_us,
                    .end_ns = facts.end.monotonic_ns,
                    .death_record_ns = std::nullopt,
                    .reason = end.reason,
                    .text = end.text,
                    .stderr_lines = facts.stderr_lines};
  if (facts.record.death) {
    evidence.death_record_ns = facts.record.death->monotonic_ns;
  } else if (facts.error_file) {
    evidence.death_record_ns = facts.error_file->written_ns;
  }
  return evidence;
}

void name_first_failure(const JobFacts& facts, Outcome& outcome) {
  std::vector<Evidence> evidence;
  for (const RankEnd& end : outcome.ranks) {
    evidence.push_back(
        evidence_of(facts.ranks[static_cast<std::size_t>(end.rank - facts.first_rank)], end));
  }
  const auto first = first_failure(evidence, facts.stopped_ns);
  if (!first) return;
  outcome.first = outcome.ranks[*first];
  outcome.exit_code = outcome.first->exit_code;
  const FailureTime when = failure_time(evidence[*first], facts.stopped_ns);
  outcome.began_ns = when.monotonic_ns;
  outcome.consequence = when.consequence;
  if (!is_for_want_of_a_peer(evidence[*first], facts.stopped_ns)) return;
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    const bool left = evidence[i].exit_code == 0 && evidence[i].end_ns < evidence[*first].end_ns;
    if (left && evidence[i].end_ns < facts.stopped_ns)
      outcome.left_early.push_back(outcome.ranks[i].rank);
  }
}

std::string lost_message(const JobFacts& facts) {
  return "the guardian of the job (process " + std::to_string(facts.guardian_pid) +
         ") was killed; all ranks were ended";
}

std::string unkillable_message(const std::vector<int>& pids) {
  std::string message = pids.size() == 1 ? "process" : "processes";
  for (const int pid : pids) message += " " + std::to_string(pid);
  return message +
         " did not end after SIGKILL (another user's, held by a debugger, or stuck in the kernel)";
}

/// A rank of ours may have failed before, and only been seen later.
void set_other_host(const JobFacts& facts, Outcome& outcome) {
  name_first_failure(facts, outcome);
  if (outcome.first && !outcome.consequence) {
    outcome.kind = OutcomeKind::rank_failed;
    return;
  }
  outcome.first.reset();
  outcome.by_others = true;
  outcome.kind = OutcomeKind::interrupted;
  outcome.signal = facts.signal;
  outcome.exit_code = 128 + facts.signal;
}

void set_kind(const JobFacts& facts, Outcome& outcome) {
  switch (facts.cause) {
    case Cause::none:
      break;
    case Cause::not_started:
      outcome.kind = OutcomeKind::not_started;
      outcome.exit_code = facts.fault.exit_code;
      outcome.message = facts.fault.message;
      break;
    case Cause::rank_failed:
      outcome.kind = OutcomeKind::rank_failed;
      outcome.signal = facts.signal_after;
      outcome.from_terminal = facts.from_terminal;
      name_first_failure(facts, outcome);
      break;
    case Cause::signal:
    case Cause::broken_output:
      outcome.kind = OutcomeKind::interrupted;
      outcome.signal = facts.signal;
      outcome.exit_code = 128 + facts.signal;
      outcome.from_terminal = facts.from_terminal;
      break;
    case Cause::timeout:
      outcome.kind = OutcomeKind::timeout;
      outcome.exit_code = static_cast<int>(ExitCode::timed_out);
      outcome.message = "the job did not end within " + facts.timeout;
      break;
    case Cause::stalled:
      outcome.kind = OutcomeKind::timeout;
      outcome.exit_code = static_cast<int>(ExitCode::timed_out);
      outcome.message = "the job stood still: no step of rank " +
                        std::to_string(facts.stalled.rank) + " for " +
                        duration_text(facts.stalled.seconds) + " (" + facts.hang_timeout + ")";
      break;
    case Cause::other_host:
      set_other_host(facts, outcome);
      break;
    case Cause::guardian_lost:
      outcome.kind = OutcomeKind::lost;
      outcome.exit_code = static_cast<int>(ExitCode::internal);
      outcome.message = lost_message(facts);
      break;
  }
}

}  // namespace

Outcome outcome_of(const JobFacts& facts) {
  Outcome outcome;
  outcome.hangs = facts.hangs;
  for (std::size_t i = 0; i < facts.ranks.size(); ++i) {
    if (facts.ranks[i].pid != 0 && facts.cause != Cause::not_started) {
      outcome.ranks.push_back(
          rank_end(facts.first_rank + static_cast<int>(i), facts.ranks[i], facts.started_ns));
    }
  }
  outcome.ready_seen =
      std::ranges::any_of(facts.ranks, [](const RankFacts& rank) { return rank.record.ready; });
  outcome.began_ns = facts.stopped_ns;
  outcome.memory = facts.memory;
  set_kind(facts, outcome);
  outcome.left = facts.unkillable;
  if (!facts.unkillable.empty()) {
    if (outcome.kind == OutcomeKind::ok) {
      outcome.kind = OutcomeKind::lost;
      outcome.exit_code = static_cast<int>(ExitCode::internal);
    }
    if (!outcome.message.empty()) outcome.message += "; ";
    outcome.message += unkillable_message(facts.unkillable);
  }
  if (facts.started_ns == 0) return outcome;
  const std::int64_t taken = monotonic_ns() - facts.started_ns;
  outcome.seconds = seconds_between(0, taken);
  outcome.started = std::chrono::time_point_cast<std::chrono::system_clock::duration>(
      std::chrono::system_clock::now() - std::chrono::nanoseconds(taken));
  return outcome;
}

}  // namespace muster::launcher
