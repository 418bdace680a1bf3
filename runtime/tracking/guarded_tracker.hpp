#pragma once

#include <muster/tracker_options.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace muster::tracking {

/// A tracker whose exceptions are dealt with.
class GuardedTracker {
 public:
  GuardedTracker(std::shared_ptr<Tracker> tracker, TrackerTrouble trouble);

  void start(const TrackedRun& run);
  void log(const TrackedRecord& record);
  void finish();

  Tracker& tracker() const noexcept { return *tracker_; }
  bool running() const noexcept { return running_; }

 private:
  /// Whether `work` went well. Throws TrackerError if `throws`, else says once what it was.
  bool attempt(const std::function<void()>& work, bool throws);

  std::shared_ptr<Tracker> tracker_;
  TrackerTrouble trouble_;
  bool running_ = false, told_ = false;
  std::int64_t failures_ = 0;  ///< One after the other.
  std::int64_t left_out_ = 0;  ///< Records to be passed over before the next attempt.
};

}  // namespace muster::tracking
