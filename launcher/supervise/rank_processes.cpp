#include "rank_processes.hpp"

#include "supervise/kernel.hpp"
#include "supervise/process_table.hpp"

#include <algorithm>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace muster::launcher {

void RankProcesses::add(pid_t pid, int rank) {
  processes_.push_back({.pid = pid, .rank = rank, .pidfd = {}});
  ++living_;
}

void RankProcesses::open_pidfds() {
  for (Process& process : processes_) process.pidfd = open_pidfd(process.pid);
}

bool RankProcesses::contains(pid_t pid) const noexcept {
  return std::ranges::find(processes_, pid, &Process::pid) != processes_.end();
}

std::optional<Event> RankProcesses::end_of(Process& process) {
  siginfo_t info{};
  if (process.ended ||
      ::waitid(P_PID, static_cast<id_t>(process.pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0)
    return std::nullopt;
  process.ended = true;
  --living_;
  Event event{.kind = Event::Kind::ended, .rank = process.rank, .pid = process.pid};
  const bool exited = info.si_code == CLD_EXITED;
  event.code = exited ? info.si_status : 0;
  event.signal = exited ? 0 : info.si_status;
  event.core_dumped = info.si_code == CLD_DUMPED ? 1 : 0;
  event.signalled = process.signalled ? 1 : 0;
  event.monotonic_ns = monotonic_ns();
  return event;
}

void RankProcesses::mark_signalled() {
  for (Process& process : processes_) {
    if (process.ended || process.signalled) continue;
    const auto state = process_state(process.pid);
    process.signalled = !state || !state->dying;
  }
}

void RankProcesses::signal_groups(int signal) const {
  for (const Process& process : processes_) {
    // A process that was just forked has no group of its own yet.
    if (::killpg(process.pid, signal) != 0 && !process.ended)
      signal_process(process.pidfd, process.pid, signal);
  }
}

void RankProcesses::signal_ranks(int signal, int rank) const {
  for (const Process& process : processes_) {
    if (!process.ended && (rank < 0 || rank == process.rank))
      signal_process(process.pidfd, process.pid, signal);
  }
}

void RankProcesses::reap_adopted() const {
  for (const pid_t child : children_of(::getpid()))
    if (!contains(child)) ::waitpid(child, nullptr, WNOHANG);
}

void RankProcesses::reap_ended() const {
  for (const Process& process : processes_)
    if (process.ended) ::waitpid(process.pid, nullptr, WNOHANG);
}

}  // namespace muster::launcher
