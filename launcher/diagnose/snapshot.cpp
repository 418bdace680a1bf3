#include "diagnose/snapshot.hpp"

#include "diagnose/process_files.hpp"
#include "diagnose/remote_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <thread>

namespace muster::launcher {
namespace {

constexpr std::size_t most_threads = 64;
/// A thread stops at once unless the kernel holds it.
constexpr std::chrono::milliseconds stop_limit{100};

/// A thread that is traced, until it is let go.
class Traced {
 public:
  explicit Traced(pid_t thread) : thread_(thread) {
    seized_ = ::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) == 0;
    error_ = seized_ ? 0 : errno;
  }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;
  ~Traced() {
    if (!stopped_) return;  // Only one that is stopped can be let go; others are when we end.
    // A number as a pointer is what the call takes. NOLINTNEXTLINE(performance-no-int-to-ptr)
    ::ptrace(PTRACE_DETACH, thread_, nullptr, reinterpret_cast<void*>(signal_));
  }

  bool seized() const noexcept { return seized_; }
  int error() const noexcept { return error_; }

  /// False if it did not stop in time, or ended.
  bool stop(Deadline deadline) {
    if (::ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr) != 0) return false;
    auto pause = std::chrono::microseconds(20);
    do {
      int status = 0;
      const pid_t found = ::waitpid(thread_, &status, __WALL | WNOHANG);
      if (found < 0 || (found == thread_ && !WIFSTOPPED(status))) return false;
      if (found == thread_) {
        // Not ours to keep: a signal that was about to be delivered.
        if (status >> 16 == 0) signal_ = WSTOPSIG(status);
        stopped_ = true;
        return true;
      }
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, std::chrono::microseconds(1000));
    } while (std::chrono::steady_clock::now() < deadline);
    return false;
  }

 private:
  pid_t thread_;
  bool seized_ = false, stopped_ = false;
  int error_ = 0;
  std::intptr_t signal_ = 0;
};

ThreadSnapshot snapshot_of(pid_t pid, pid_t thread, Deadline deadline, int& error) {
  ThreadSnapshot snapshot;
  snapshot.thread = thread;
  snapshot.name = thread_name(pid, thread);
  Traced traced(thread);
  error = traced.error();
  if (!traced.seized()) {
    snapshot.fault = std::strerror(error);
    return snapshot;
  }
  if (!traced.stop(std::min(deadline, std::chrono::steady_clock::now() + stop_limit))) {
    snapshot.fault = "the kernel holds it";
    return snapshot;
  }
  const auto registers = read_registers(thread);
  if (!registers) {
    snapshot.fault = "its registers cannot be read (a program of 32 bits?)";
    return snapshot;
  }
  snapshot.registers = *registers;
  snapshot.stack = RemoteMemory(thread).copy(registers->sp(), stack_bytes);
  return snapshot;
}

}  // namespace

ProcessSnapshot take_snapshot(pid_t pid, Deadline deadline) {
  ProcessSnapshot process;
  if (!can_unwind()) {
    process.fault = "stacks cannot be read on this kind of machine";
    return process;
  }
  for (const pid_t thread : threads_of(pid)) {
    const bool in_time = std::chrono::steady_clock::now() < deadline;
    if (!in_time || process.threads.size() == most_threads) {
      ++process.unseen;
      continue;
    }
    int error = 0;
    auto snapshot = snapshot_of(pid, thread, deadline, error);
    if (error == ESRCH || has_ended(pid, thread)) continue;
    if (error != 0 && process.threads.empty()) {
      process.fault = why_not_traced(pid, error);
      return process;
    }
    process.threads.push_back(std::move(snapshot));
  }
  if (process.threads.empty() && process.unseen != 0) process.fault = "no time was left for it";
  if (process.threads.empty() && process.fault.empty()) process.fault = "it has ended";
  return process;
}

}  // namespace muster::launcher
