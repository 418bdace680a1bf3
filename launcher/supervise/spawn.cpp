#include "spawn.hpp"

#include "kernel.hpp"
#include "protocol.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Everything here up to fork_rank runs between fork and exec: no allocation, no exceptions.
namespace muster::launcher {
namespace {

/// Where the pipe of StartRecords is kept: above all that a rank sees.
constexpr int records_fd = RankImage::master_fd + 1;

void report(int records, const StartRecord& record) noexcept {
  while (::write(records, &record, sizeof record) < 0 && errno == EINTR) {
  }
}

[[noreturn]] void give_up(int records, int rank, StartStage stage, int error) noexcept {
  report(records, {.rank = rank, .stage = stage, .error = error, .fatal = 1});
  ::_exit(127);
}

/// Out of the way of the numbers that a rank sees.
int move_up(int fd) noexcept {
  return fd < 0 || fd > records_fd ? fd : ::fcntl(fd, F_DUPFD_CLOEXEC, records_fd + 1);
}

/// 0, or the errno of what failed. `records` is where the pipe is afterwards.
int arrange_descriptors(const RankDescriptors& wanted, int& records) noexcept {
  int sources[] = {wanted.standard[0], wanted.standard[1], wanted.standard[2],
                   wanted.control,     wanted.memory,      wanted.master};
  const int pipe = move_up(records);
  if (pipe < 0) return errno;
  records = pipe;
  for (int& source : sources) {
    if (source < 0) continue;
    source = move_up(source);
    if (source < 0) return errno;
  }
  for (int target = 0; target < records_fd; ++target) {
    if (sources[target] < 0) {
      ::close(target);
    } else if (::dup2(sources[target], target) < 0) {
      return errno;
    }
  }
  if (::dup3(records, records_fd, O_CLOEXEC) < 0) return errno;
  records = records_fd;
  close_from(records_fd + 1);
  return 0;
}

void restore_signals(const Inherited& inherited) noexcept {
  // Handlers fall back to the default by themselves when the program starts; ignored signals stay.
  ::signal(SIGPIPE, inherited.pipe_ignored ? SIG_IGN : SIG_DFL);
  ::signal(SIGCHLD, inherited.child_ignored ? SIG_IGN : SIG_DFL);
  ::signal(SIGXFSZ, inherited.size_ignored ? SIG_IGN : SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Whether a shell would take the file for a script: no zero byte in its first line.
bool looks_like_script(const char* path) noexcept {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  char head[128];
  const ssize_t size = file < 0 ? -1 : ::read(file, head, sizeof head);
  if (file >= 0) ::close(file);
  if (size < 0) return false;
  const char* const start = head;
  const char* const line_end = std::find(start, start + size, '\n');
  return std::find(start, line_end, '\0') == line_end;
}

/// Where a sandbox denies it, the rank runs wherever the kernel puts it.
void bind(const RankImage& image, int records) noexcept {
  const auto& cpus = image.cpus();
  constexpr std::size_t word = sizeof(unsigned long);
  if (!cpus.empty() && ::syscall(SYS_sched_setaffinity, 0, cpus.size() * word, cpus.data()) < 0)
    report(records, {image.rank(), StartStage::affinity, errno, 0});
  const auto& node = image.memory_node();
  // The kernel reads one bit less than it is told.
  if (!node.empty() &&
      ::syscall(SYS_set_mempolicy, MPOL_PREFERRED, node.data(), node.size() * word * CHAR_BIT + 1) <
          0 &&
      image.bind_asked())
    report(records, {image.rank(), StartStage::memory, errno, 0});
}

/// Where only ancestors may trace (Yama), so may what the launcher starts to do it; and, if the
/// rank is to stop for a debugger, whoever the person starts.
void allow_looks(const Inherited& inherited) noexcept {
  const auto any = static_cast<unsigned long>(-1);  // PR_SET_PTRACER_ANY
  const auto launcher = static_cast<unsigned long>(inherited.launcher);
  ::prctl(PR_SET_PTRACER, inherited.stop_on_exec ? any : launcher, 0, 0, 0);
  // Its parent sees the program start, and stops it there; where that is denied it stops before.
  if (inherited.stop_on_exec && ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0)
    ::raise(SIGSTOP);
}

[[noreturn]] void become(const RankImage& image, const Inherited& inherited, pid_t parent,
                         int records) noexcept {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // It died before the line above.
  const int refused = arrange_descriptors(image.descriptors(), records);
  if (refused != 0) give_up(records, image.rank(), StartStage::descriptors, refused);
  bind(image, records);
  if (inherited.files_raised && ::setrlimit(RLIMIT_NOFILE, &inherited.files) != 0)
    report(records, {image.rank(), StartStage::limits, errno, 0});
  restore_signals(inherited);
  allow_looks(inherited);
  ::execve(image.path(), image.argv(), image.envp());
  int error = errno;
  if (error == ENOEXEC && looks_like_script(image.path())) {
    ::execve("/bin/sh", image.shell_argv(), image.envp());
    error = errno;
  }
  give_up(records, image.rank(), StartStage::exec, error);
}

}  // namespace

pid_t fork_rank(const RankImage& image, const Inherited& inherited, int records) {
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(image, inherited, parent, records);
  return pid;
}

void stop_at_start(pid_t rank) {
  while (true) {
    siginfo_t seen{};
    const int what = WSTOPPED | WEXITED;
    if (::waitid(P_PID, static_cast<id_t>(rank), &seen, what | WNOWAIT) != 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (seen.si_code != CLD_TRAPPED) return;  // It ended, or stopped by itself.
    ::waitid(P_PID, static_cast<id_t>(rank), &seen, WSTOPPED);
    const bool started = seen.si_status == SIGTRAP;
    const auto signal = static_cast<std::intptr_t>(started ? SIGSTOP : seen.si_status);
    // A number as a pointer is what the call takes. NOLINTNEXTLINE(performance-no-int-to-ptr)
    ::ptrace(started ? PTRACE_DETACH : PTRACE_CONT, rank, nullptr, reinterpret_cast<void*>(signal));
    if (started) return;
  }
}

}  // namespace muster::launcher
