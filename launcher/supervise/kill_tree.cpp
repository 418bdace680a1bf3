#include "kill_tree.hpp"

#include "kernel.hpp"
#include "process_table.hpp"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <set>
#include <unistd.h>

namespace muster::launcher {
namespace {

/// Signals the process that was seen in the table, never another one that took its number.
void signal_seen(const ProcessState& seen, const std::set<pid_t>& family, int signal) {
  const UniqueFd pidfd = open_pidfd(seen.pid);
  // With the pidfd held, the number is this process's: it is ours if its parent is.
  const auto now = process_state(seen.pid);
  if (now && family.contains(now->parent)) signal_process(pidfd, seen.pid, signal);
}

std::set<pid_t> family_of(const std::vector<ProcessState>& processes) {
  std::set<pid_t> family{::getpid()};
  for (const ProcessState& process : processes) family.insert(process.pid);
  return family;
}

/// Stops all descendants, those too that are forked meanwhile, and returns them.
std::vector<ProcessState> stop_all() {
  std::set<pid_t> stopped;
  while (true) {
    auto living = descendants_of(::getpid());
    const auto family = family_of(living);
    bool grew = false;
    for (const ProcessState& process : living) {
      if (!stopped.insert(process.pid).second) continue;
      grew = true;
      signal_seen(process, family, SIGSTOP);
    }
    if (!grew) return living;
  }
}

void wait_for_child(std::chrono::milliseconds limit) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  const timespec time{0, std::chrono::nanoseconds(limit).count()};
  ::sigtimedwait(&child, nullptr, &time);
}

}  // namespace

void signal_descendants(int signal, const std::function<bool(pid_t, pid_t)>& wanted) {
  const auto living = descendants_of(::getpid());
  const auto family = family_of(living);
  for (const ProcessState& process : living)
    if (wanted(process.pid, process.group)) signal_seen(process, family, signal);
}

std::vector<pid_t> kill_descendants(std::chrono::milliseconds limit,
                                    const std::function<void()>& reap) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    const auto living = stop_all();
    if (living.empty()) return {};
    const auto family = family_of(living);
    for (const ProcessState& process : living) signal_seen(process, family, SIGKILL);
    reap();
    if (std::chrono::steady_clock::now() >= deadline) {
      std::vector<pid_t> left;
      for (const ProcessState& process : descendants_of(::getpid())) left.push_back(process.pid);
      return left;
    }
    wait_for_child(std::chrono::milliseconds(10));
  }
}

}  // namespace muster::launcher
