#include "wizard/interrupt_notice.hpp"

#include <string_view>
#include <unistd.h>

namespace muster::launcher {
namespace {

void tell_and_end(int signal) {
  constexpr std::string_view notice = "\nmuster: nothing was written\n";
  [[maybe_unused]] const auto count = ::write(STDERR_FILENO, notice.data(), notice.size());
  ::raise(signal);  // The handler is reset: this ends us, so that a shell sees why.
}

}  // namespace

InterruptNotice::InterruptNotice() {
  ::sigaction(SIGINT, nullptr, &before_);
  if (before_.sa_handler == SIG_IGN) return;  // Whoever started us wants it so.
  struct sigaction ours {};
  ours.sa_handler = tell_and_end;
  ours.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  ::sigaction(SIGINT, &ours, nullptr);
}

InterruptNotice::~InterruptNotice() { ::sigaction(SIGINT, &before_, nullptr); }

}  // namespace muster::launcher
