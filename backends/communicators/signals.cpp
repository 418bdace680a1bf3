#include "communicators/signals.hpp"

#include <ctime>
#include <utility>

namespace muster {
namespace {

thread_local bool quiet = false;

sigset_t only_pipe() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

bool pipe_is_pending() noexcept {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGPIPE) == 1;
}

}  // namespace

SignalsHeld::SignalsHeld(Set set) noexcept : pipe_was_pending_(pipe_is_pending()) {
  sigset_t held = only_pipe();
  if (set == Set::all) {
    sigfillset(&held);
  }
  pthread_sigmask(SIG_BLOCK, &held, &before_);
}

SignalsHeld::~SignalsHeld() {
  if (!pipe_was_pending_ && sigismember(&before_, SIGPIPE) == 0 && pipe_is_pending()) {
    const auto pipe = only_pipe();
    const timespec at_once{};
    sigtimedwait(&pipe, nullptr, &at_once);
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::thread quiet_thread(std::function<void()> body) {
  const SignalsHeld held(SignalsHeld::Set::all);
  return std::thread([body = std::move(body)] {
    quiet = true;
    body();
  });
}

bool is_quiet_thread() noexcept { return quiet; }

}  // namespace muster
