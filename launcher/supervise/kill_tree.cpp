#include "kill_tree.hpp"

#include "kernel.hpp"
#include "process_table.hpp"

#include <csignal>
#include <ctime>
#include <set>
#include <unistd.h>

namespace muster::launcher {

struct JobTree::Family {
  std::vector<ProcessState> living;
  std::set<pid_t> parents;  ///< They, and this process.
};

JobTree::Family JobTree::find() const {
  Family family{descendants_of(::getpid()), {::getpid()}};
  for (const ProcessState& process : family.living) family.parents.insert(process.pid);
  if (mark_.empty()) return family;
  for (const ProcessState& process : processes_with(mark_))
    if (family.parents.insert(process.pid).second) family.living.push_back(process);
  return family;
}

/// Signals the process that was seen in the table, never another one that took its number.
void JobTree::signal_seen(pid_t pid, const Family& family, int signal) const {
  const UniqueFd pidfd = open_pidfd(pid);
  // With the pidfd held, the number is this process's: it is ours if its parent is.
  const auto now = process_state(pid);
  const bool ours = now && (family.parents.contains(now->parent) ||
                            (!mark_.empty() && environment_has(pid, mark_)));
  if (ours) signal_process(pidfd, pid, signal);
}

void JobTree::signal(int signal, const std::function<bool(pid_t, pid_t)>& wanted) const {
  const Family family = find();
  for (const ProcessState& process : family.living)
    if (wanted(process.pid, process.group)) signal_seen(process.pid, family, signal);
}

/// Stops all, those too that are forked meanwhile, and returns them.
JobTree::Family JobTree::stop_all() const {
  std::set<pid_t> stopped;
  while (true) {
    Family family = find();
    bool grew = false;
    for (const ProcessState& process : family.living) {
      if (!stopped.insert(process.pid).second) continue;
      grew = true;
      signal_seen(process.pid, family, SIGSTOP);
    }
    if (!grew) return family;
  }
}

std::vector<pid_t> JobTree::kill(std::chrono::milliseconds limit,
                                 const std::function<void()>& reap) const {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    const Family family = stop_all();
    if (family.living.empty()) return {};
    for (const ProcessState& process : family.living) signal_seen(process.pid, family, SIGKILL);
    reap();
    if (std::chrono::steady_clock::now() >= deadline) {
      std::vector<pid_t> left;
      for (const ProcessState& process : find().living) left.push_back(process.pid);
      return left;
    }
    wait_for_child(std::chrono::milliseconds(10));
  }
}

void wait_for_child(std::chrono::milliseconds limit) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  const timespec time{0, std::chrono::nanoseconds(limit).count()};
  ::sigtimedwait(&child, nullptr, &time);
}

}  // namespace muster::launcher
