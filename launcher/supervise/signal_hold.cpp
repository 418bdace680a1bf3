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

}  // namespace muster::launcher
