#include "interruption.hpp"

#include "rendezvous/meeting.hpp"
#include "supervise/signals.hpp"

#include <csignal>
#include <sys/signalfd.h>
#include <unistd.h>

namespace muster::launcher {

Interruption::Interruption(EventLoop& loop, std::function<std::string()> status,
                           std::function<void(const std::string&)> tell)
    : status_(std::move(status)), tell_(std::move(tell)) {
  const sigset_t wanted = answered_signals();
  descriptor_.reset(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  watch_ = loop.watch(descriptor_.get(), EventLoop::Direction::readable, [this] { on_signal(); });
}

void Interruption::on_signal() {
  signalfd_siginfo info{};
  if (::read(descriptor_.get(), &info, sizeof info) != sizeof info) return;
  const int signal = static_cast<int>(info.ssi_signo);
  switch (signal) {
    case SIGUSR1:
    case SIGUSR2:
    case SIGWINCH:
      return;  // For ranks, and there is none.
    case SIGQUIT:
      tell_("waiting: " + status_());
      return;
    case SIGTSTP:
      ::raise(SIGSTOP);
      return;
    default:
      throw Interrupted(signal, signal == SIGINT && info.ssi_code == SI_KERNEL);
  }
}

}  // namespace muster::launcher
