#pragma once

#include "supervise/event_loop.hpp"
#include "unique_fd.hpp"

#include <functional>
#include <memory>
#include <string>

namespace muster::launcher {

/// Answers signals while hosts meet, in the way that a running job does: those that end a job throw
/// Interrupted out of the loop, SIGQUIT tells what is being waited for, SIGTSTP stops. They must be
/// held back (SignalHold); what comes after this is destroyed waits for the job.
class Interruption {
 public:
  Interruption(EventLoop& loop, std::function<std::string()> status,
               std::function<void(const std::string&)> tell);

 private:
  void on_signal();

  std::function<std::string()> status_;
  std::function<void(const std::string&)> tell_;
  UniqueFd descriptor_;
  std::unique_ptr<EventLoop::Watch> watch_;
};

}  // namespace muster::launcher
