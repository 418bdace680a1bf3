#pragma once

#include <csignal>

namespace muster::launcher {

/// While it lives, Ctrl-C says that nothing was written before it ends the process as ever.
class InterruptNotice {
 public:
  InterruptNotice();
  ~InterruptNotice();
  InterruptNotice(const InterruptNotice&) = delete;
  InterruptNotice& operator=(const InterruptNotice&) = delete;

 private:
  struct sigaction before_ {};
};

}  // namespace muster::launcher
