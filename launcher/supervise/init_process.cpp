#include "init_process.hpp"

#include <muster/error.hpp>

#include "unique_fd.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

bool has_children() {
  const UniqueFd file(::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC));
  char first = 0;
  return file && ::read(file.get(), &first, 1) == 1;
}

/// Ends as the launcher did.
[[noreturn]] void end_like(int status) {
  if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  // Process 1 cannot die of its own signal: it falls through to the exit code.
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  ::_exit(128 + signal);
}

/// Collects all that ended; does not return once the launcher did.
void reap(pid_t launcher) {
  int status = 0;
  pid_t pid = 0;
  while ((pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
    if (pid != launcher) continue;
    if (!WIFSTOPPED(status)) end_like(status);
    // The shell waits for us, so we stop with it, and go on together. Process 1 cannot stop.
    if (::getpid() == 1) continue;
    ::raise(SIGSTOP);
    ::kill(launcher, SIGCONT);
  }
}

[[noreturn]] void stand_before(pid_t launcher, const sigset_t& all) noexcept {
  ::signal(SIGCHLD, SIG_DFL);
  while (true) {
    reap(launcher);
    siginfo_t info{};
    const int signal = ::sigwaitinfo(&all, &info);
    // What the terminal sends has reached the launcher too.
    if (signal <= 0 || signal == SIGCHLD || info.si_code == SI_KERNEL) continue;
    ::kill(launcher, signal);
  }
}

}  // namespace

void separate_from_strangers() {
  if (::getpid() != 1 && !has_children()) return;
  sigset_t all, before;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid > 0) stand_before(pid, all);
  const int error = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) throw Error(std::string("cannot start another process: ") + std::strerror(error));
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(static_cast<int>(ExitCode::internal));
}

}  // namespace muster::launcher
