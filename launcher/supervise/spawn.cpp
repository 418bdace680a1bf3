#include "spawn.hpp"

#include "kernel.hpp"
#include "protocol.hpp"
#include "raw_call.hpp"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <new>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

// Everything here up to `become` runs between the start of a process and its program, maybe in the
// memory of its parent, which goes on meanwhile: only its own stack is written, and errno is not.
namespace muster::launcher {
namespace {

/// Where the pipe of StartRecords is kept: above all that a rank sees.
constexpr int records_fd = RankImage::master_fd + 1;

int duplicate_above(int fd, int lowest) noexcept {
  return static_cast<int>(raw_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest));
}

void report(int records, const StartRecord& record) noexcept {
  while (raw_call(SYS_write, records, &record, sizeof record) == -EINTR) {
  }
}

[[noreturn]] void leave() noexcept {
  while (true) raw_call(SYS_exit_group, 127);
}

[[noreturn]] void give_up(int records, int rank, StartStage stage, int error) noexcept {
  report(records, {.rank = rank, .stage = stage, .error = error, .fatal = 1});
  leave();
}

/// Out of the way of the numbers that a rank sees; below 0: a negative errno.
int move_up(int fd) noexcept {
  return fd < 0 || fd > records_fd ? fd : duplicate_above(fd, records_fd + 1);
}

/// 0, or the errno of what failed. `records` is where the pipe is afterwards.
int arrange_descriptors(const RankDescriptors& wanted, int& records) noexcept {
  int sources[] = {wanted.standard[0], wanted.standard[1], wanted.standard[2],
                   wanted.control,     wanted.memory,      wanted.master};
  const int pipe = move_up(records);
  if (pipe < 0) return -pipe;
  records = pipe;
  for (int& source : sources) {
    if (source < 0) continue;
    source = move_up(source);
    if (source < 0) return -source;
  }
  for (int target = 0; target < records_fd; ++target) {
    if (sources[target] < 0) {
      raw_call(SYS_close, target);
    } else if (const long put = raw_call(SYS_dup3, sources[target], target, 0); put < 0) {
      return static_cast<int>(-put);
    }
  }
  if (const long put = raw_call(SYS_dup3, records, records_fd, O_CLOEXEC); put < 0)
    return static_cast<int>(-put);
  records = records_fd;
  if (raw_call(SYS_close_range, records_fd + 1, ~0U, 0) != 0) close_from(records_fd + 1);
  return 0;
}

/// As the kernel reads it: glibc's own has another order.
struct KernelAction {
  std::uintptr_t handler, flags, restorer;
  std::uint64_t mask;
};

void set_action(int signal, bool ignored) noexcept {
  // Numbers are what SIG_DFL and SIG_IGN are.
  const KernelAction action{.handler = ignored ? 1U : 0U, .flags = 0, .restorer = 0, .mask = 0};
  raw_call(SYS_rt_sigaction, signal, &action, nullptr, sizeof action.mask);
}

void restore_signals(const Inherited& inherited) noexcept {
  // Handlers fall back to the default by themselves when the program starts; ignored signals stay.
  set_action(SIGPIPE, inherited.pipe_ignored);
  set_action(SIGCHLD, inherited.child_ignored);
  set_action(SIGXFSZ, inherited.size_ignored);
  const std::uint64_t none = 0;
  raw_call(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
}

/// Whether a shell would take the file for a script: no zero byte in its first line.
bool looks_like_script(const char* path) noexcept {
  const long file = raw_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  char head[128] = {};
  const long size = file < 0 ? -1 : raw_call(SYS_read, file, head, sizeof head);
  if (file >= 0) raw_call(SYS_close, file);
  for (long at = 0; at < size && head[at] != '\n'; ++at)
    if (head[at] == 0) return false;
  return size >= 0;
}

/// Where a sandbox denies it, the rank runs wherever the kernel puts it.
void bind(const RankImage& image, int records) noexcept {
  const auto& cpus = image.cpus();
  constexpr std::size_t word = sizeof(unsigned long);
  const auto tell = [&](StartStage stage, long result) {
    report(records, {image.rank(), stage, static_cast<int>(-result), 0});
  };
  if (!cpus.empty()) {
    const long result = raw_call(SYS_sched_setaffinity, 0, cpus.size() * word, cpus.data());
    if (result < 0) tell(StartStage::affinity, result);
  }
  const auto& node = image.memory_node();
  if (node.empty()) return;
  // The kernel reads one bit less than it is told.
  const long result =
      raw_call(SYS_set_mempolicy, MPOL_PREFERRED, node.data(), node.size() * word * CHAR_BIT + 1);
  if (result < 0 && image.bind_asked()) tell(StartStage::memory, result);
}

/// Where only ancestors may trace (Yama), so may what the launcher starts to do it; and, if the
/// rank is to stop for a debugger, whoever the person starts.
void allow_looks(const Inherited& inherited) noexcept {
  const long any = -1;  // PR_SET_PTRACER_ANY
  raw_call(SYS_prctl, PR_SET_PTRACER, inherited.stop_on_exec ? any : inherited.launcher, 0, 0, 0);
  // Its parent sees the program start, and stops it there; where that is denied it stops before.
  if (inherited.stop_on_exec && raw_call(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0) != 0)
    raw_call(SYS_kill, raw_call(SYS_getpid), SIGSTOP);
}

/// What a new process is given to begin with.
struct Start {
  const RankImage& image;
  const Inherited& inherited;
  pid_t parent;
  int records;
};

[[noreturn]] void become(const Start& start) noexcept {
  const auto& [image, inherited, parent, given] = start;
  int records = given;
  raw_call(SYS_setsid);
  raw_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  if (raw_call(SYS_getppid) != parent) leave();  // It died before the line above.
  const int refused = arrange_descriptors(image.descriptors(), records);
  if (refused != 0) give_up(records, image.rank(), StartStage::descriptors, refused);
  bind(image, records);
  if (inherited.files_raised) {
    const long result = raw_call(SYS_prlimit64, 0, RLIMIT_NOFILE, &inherited.files, nullptr);
    if (result < 0)
      report(records, {image.rank(), StartStage::limits, static_cast<int>(-result), 0});
  }
  restore_signals(inherited);
  allow_looks(inherited);
  long result = raw_call(SYS_execve, image.path(), image.argv(), image.envp());
  if (result == -ENOEXEC && looks_like_script(image.path()))
    result = raw_call(SYS_execve, "/bin/sh", image.shell_argv(), image.envp());
  give_up(records, image.rank(), StartStage::exec, static_cast<int>(-result));
}

int become_in_place(void* start) { become(*static_cast<const Start*>(start)); }

/// Copying our memory for a rank, and dropping the copy, is half of what its start costs us. So it
/// begins in our memory, on that stack. -1 where a sandbox denies that.
pid_t start_in_place(const Start& start, std::span<std::byte> stack) {
  constexpr std::size_t above = 128;
  static_assert(sizeof(Start) <= above);
  std::byte* top = stack.data() + stack.size() - above;
  const auto* own = ::new (top) Start(start);
  return ::clone(become_in_place, top, CLONE_VM | SIGCHLD, const_cast<Start*>(own));
}

}  // namespace

pid_t fork_rank(const RankImage& image, const Inherited& inherited, int records,
                std::span<std::byte> stack) {
  const Start start{image, inherited, ::getpid(), records};
  if (!stack.empty()) {
    const pid_t pid = start_in_place(start, stack);
    if (pid > 0) return pid;
  }
  const pid_t pid = ::fork();
  if (pid == 0) become(start);
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
    raw_call(SYS_ptrace, started ? PTRACE_DETACH : PTRACE_CONT, rank, 0,
             started ? SIGSTOP : seen.si_status);
    if (started) return;
  }
}

}  // namespace muster::launcher
