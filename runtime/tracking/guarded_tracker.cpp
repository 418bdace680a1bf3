#include "tracking/guarded_tracker.hpp"

#include <muster/log.hpp>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

namespace muster::tracking {

GuardedTracker::GuardedTracker(std::shared_ptr<Tracker> tracker, TrackerTrouble trouble)
    : tracker_(std::move(tracker)), trouble_(trouble) {}

void GuardedTracker::start(const TrackedRun& run) {
  running_ = attempt([&] { tracker_->start(run); }, trouble_ != TrackerTrouble::never);
}

void GuardedTracker::log(const TrackedRecord& record) {
  if (!running_ || left_out_-- > 0) return;
  left_out_ = 0;
  if (attempt([&] { tracker_->log(record); }, trouble_ == TrackerTrouble::always)) {
    failures_ = 0;
    return;
  }
  // A disk may have room again later; but an attempt can take its time, as one over a network.
  constexpr std::int64_t most = 10;
  failures_ = std::min(failures_ + 1, most);
  left_out_ = (std::int64_t{1} << failures_) - 2;
}

void GuardedTracker::finish() {
  if (!std::exchange(running_, false)) return;
  attempt([&] { tracker_->finish(); }, trouble_ == TrackerTrouble::always);
}

bool GuardedTracker::attempt(const std::function<void()>& work, bool throws) {
  std::string reason;
  try {
    work();
    return true;
  } catch (const std::exception& error) {
    reason = error.what();
  } catch (...) {
    reason = "an exception that is no std::exception";
  }
  const auto message = "tracker " + std::string(tracker_->name()) + ": " + reason;
  if (throws) throw TrackerError(message);
  if (!std::exchange(told_, true)) {
    muster::log(LogLevel::warning,
                message + "; training goes on, and what this tracker cannot take is lost");
  }
  return false;
}

}  // namespace muster::tracking
