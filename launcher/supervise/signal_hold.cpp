#include "signal_hold.hpp"

#include "supervise/signals.hpp"

#include <ctime>

namespace muster::launcher {

SignalHold::SignalHold() : held_(answered_signals()) {
  ::sigprocmask(SIG_BLOCK, &held_, &mask_before_);
}

SignalHold::~SignalHold() {
  const timespec now{};
  while (::sigtimedwait(&held_, nullptr, &now) > 0) {
  }
  ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

std::optional<siginfo_t> SignalHold::take_ending() const {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (sigismember(&held_, signal) == 1) sigaddset(&ending, signal);
  siginfo_t info{};
  const timespec now{};
  if (::sigtimedwait(&ending, &info, &now) <= 0) return std::nullopt;
  return info;
}

}  // namespace muster::launcher
