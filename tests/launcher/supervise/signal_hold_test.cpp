#include "supervise/signal_hold.hpp"

#include <catch2/catch_test_macros.hpp>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

TEST_CASE("signals that ask for the end are found, others wait on, and none outlives the hold") {
  // In a child: the test's own handlers are nobody's business.
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int signal : {SIGTERM, SIGUSR1}) ::signal(signal, SIG_DFL);
    {
      const SignalHold hold;
      if (hold.take_ending()) ::_exit(1);
      ::raise(SIGUSR1);
      if (hold.take_ending()) ::_exit(2);
      ::raise(SIGTERM);
      const auto found = hold.take_ending();
      if (!found || found->si_signo != SIGTERM) ::_exit(3);
      if (hold.take_ending()) ::_exit(4);
      sigset_t pending;
      ::sigpending(&pending);
      if (sigismember(&pending, SIGUSR1) != 1) ::_exit(5);
    }
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace
}  // namespace muster::launcher
