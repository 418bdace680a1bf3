#include "signals.hpp"

#include <unistd.h>

namespace muster::launcher {
namespace {

constexpr int answered[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGWINCH};

bool ignored(int signal) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
}

void set_action(int signal, void (*handler)(int), struct sigaction& before) {
  struct sigaction action {};
  action.sa_handler = handler;
  ::sigaction(signal, &action, &before);
}

}  // namespace

sigset_t answered_signals() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signal : answered)
    if (!ignored(signal)) sigaddset(&wanted, signal);
  return wanted;
}

Signals::Signals() {
  const sigset_t wanted = answered_signals();
  sigset_t blocked = wanted;
  sigaddset(&blocked, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &blocked, &mask_before_);
  // A reader that goes away is an error of the write; children must stay until they are asked for.
  set_action(SIGPIPE, SIG_IGN, pipe_before_);
  set_action(SIGCHLD, SIG_DFL, child_before_);
  // So is a file that may not grow: ulimit -f.
  set_action(SIGXFSZ, SIG_IGN, size_before_);
  descriptor_.reset(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
}

Signals::~Signals() {
  ::sigaction(SIGPIPE, &pipe_before_, nullptr);
  ::sigaction(SIGCHLD, &child_before_, nullptr);
  ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

std::optional<signalfd_siginfo> Signals::next() const noexcept {
  signalfd_siginfo info{};
  if (::read(descriptor_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  return info;
}

void Signals::describe(Inherited& inherited) const noexcept {
  inherited.pipe_ignored = pipe_before_.sa_handler == SIG_IGN;
  inherited.size_ignored = size_before_.sa_handler == SIG_IGN;
  inherited.child_ignored = child_before_.sa_handler == SIG_IGN;
}

}  // namespace muster::launcher
