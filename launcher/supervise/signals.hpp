#pragma once

#include "supervise/spawn.hpp"
#include "unique_fd.hpp"

#include <optional>
#include <signal.h>
#include <sys/signalfd.h>

namespace muster::launcher {

/// The signals that a launcher answers, but for those that this process inherited as ignored.
sigset_t answered_signals();

/// Turns the signals that a launcher answers into events for as long as it lives, and puts all back
/// afterwards, but for SIGXFSZ: what is written later must not end us either. Signals that this
/// process inherited as ignored (nohup) stay ignored. One at a time, made before there is any
/// thread. What came and was not asked for waits on, where a SignalHold lets it.
class Signals {
 public:
  Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

  /// A signalfd, readable when one has come.
  int descriptor() const noexcept { return descriptor_.get(); }
  /// The next one, if one has come.
  std::optional<signalfd_siginfo> next() const noexcept;
  /// What ranks must find as it was.
  void describe(Inherited& inherited) const noexcept;

 private:
  sigset_t mask_before_{};
  struct sigaction pipe_before_ {};
  struct sigaction child_before_ {};
  struct sigaction size_before_ {};
  UniqueFd descriptor_;
};

}  // namespace muster::launcher
