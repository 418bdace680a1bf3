#pragma once

#include <optional>
#include <signal.h>

namespace muster::launcher {

/// Lets the signals that a launcher answers wait, so that none ends this process while there is
/// something that must not be left behind. Signals, made meanwhile, finds those that came; what
/// still waits at the end is dropped, for it was meant for a job that is over.
class SignalHold {
 public:
  SignalHold();
  SignalHold(const SignalHold&) = delete;
  SignalHold& operator=(const SignalHold&) = delete;
  ~SignalHold();

  /// One that asks for the job's end and has come, if there is one: SIGINT, SIGTERM or SIGHUP. It
  /// is taken away.
  std::optional<siginfo_t> take_ending() const;

 private:
  sigset_t held_{}, mask_before_{};
};

}  // namespace muster::launcher
