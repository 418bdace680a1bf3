#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace muster {

/// While it lives, signals of its set are not delivered to this thread; threads that are started
/// meanwhile inherit that. A SIGPIPE that the thread itself has caused is gone afterwards: Gloo and
/// c10d write to sockets that a peer may have closed, and say so by an error as well.
class SignalsHeld {
 public:
  enum class Set { pipe, all };
  explicit SignalsHeld(Set set) noexcept;
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
  bool pipe_was_pending_;
};

/// A thread that leaves all signals to the program's own threads.
std::thread quiet_thread(std::function<void()> body);

/// Whether the calling thread is one of those.
bool is_quiet_thread() noexcept;

}  // namespace muster
