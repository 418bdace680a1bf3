#include "report/first_line.hpp"

#include "report/signal_name.hpp"
#include "topology/cpu_list.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <csignal>

namespace muster::launcher {
namespace {

template <std::size_t count>
bool contains(const std::array<int, count>& signals, int signal) {
  return std::ranges::find(signals, signal) != signals.end();
}

/// Those for which the kernel writes a core dump, if it is allowed to.
constexpr std::array of_a_fault{SIGABRT, SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,
                                SIGTRAP, SIGSYS,  SIGXCPU, SIGXFSZ, SIGQUIT};

constexpr std::array of_others{SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};

/// "rank 2 failed first: exit 7"
std::string what_happened(const Outcome& outcome, bool alone) {
  const auto& end = *outcome.first;
  const auto how = how_it_ended(end);
  if (end.out_of_memory) {
    const bool of_host = outcome.memory && outcome.memory->on_host;
    return fmt::format("rank {} was killed: {}out of memory, {}", end.rank,
                       of_host ? "the host ran " : "", how);
  }
  if (was_killed_from_outside(end))
    return fmt::format("rank {} was killed from outside: {}", end.rank, how);
  if (!outcome.left_early.empty()) {
    return fmt::format("{} left early (exit 0), then rank {} failed: {}",
                       ranks_text(outcome.left_early), end.rank, how);
  }
  return fmt::format("rank {} failed{}: {}", end.rank, alone ? "" : " first", how);
}

}  // namespace

bool is_alone(const Plan& plan) {
  return plan.ranks.size() == 1 && plan.ranks.front().world.size == 1;
}

std::string ranks_text(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + format_cpu_list(ranks);
}

std::string how_it_ended(const RankEnd& end) {
  if (end.signal == 0) return fmt::format("exit {}", end.exit_code);
  const auto* const core = end.core_dumped                    ? ", core dumped"
                           : contains(of_a_fault, end.signal) ? ", no core dump"
                                                              : "";
  return fmt::format("{} (exit {}{})", signal_name(end.signal), end.exit_code, core);
}

bool was_killed_from_outside(const RankEnd& end) {
  return !end.stopped_by_us && !end.out_of_memory && contains(of_others, end.signal);
}

std::string first_line(const Outcome& outcome, const Plan& plan, const Screen& screen) {
  const auto& end = *outcome.first;
  const auto* spec = plan.find(end.rank);
  const bool alone = is_alone(plan);
  const auto& host = spec != nullptr ? spec->host : end.host;
  const int local_rank = spec != nullptr ? spec->world.local_rank : end.local_rank;
  return fmt::format("{} {} on {}{}, pid {}, after {}\n", screen.red("muster:"),
                     screen.bold(what_happened(outcome, alone)), host,
                     alone ? "" : fmt::format(", local rank {}", local_rank), end.pid,
                     duration_text(end.seconds));
}

}  // namespace muster::launcher
