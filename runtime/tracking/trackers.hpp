#pragma once

#include <muster/tracker_options.hpp>

#include "tracking/guarded_tracker.hpp"
#include "tracking/late_record.hpp"
#include "tracking/run_folder.hpp"

#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace muster::tracking {

/// What init_trackers was asked for.
struct TrackersRequest {
  std::string project;
  TrackedItems config;
  std::filesystem::path parent;       ///< The folder of the run's folder.
  std::vector<std::string> log_with;  ///< Names of trackers, all or none.
  TrackerOptions options;
  int rank = 0;
};

/// The trackers that run on this rank, from start to finish. Used by one thread.
class Trackers {
 public:
  /// Starts them. Throws ConfigError for a request that cannot be, TrackerError as the request's
  /// TrackerTrouble has it.
  explicit Trackers(const TrackersRequest& request);
  /// finish(), without exceptions.
  ~Trackers();
  Trackers(const Trackers&) = delete;
  Trackers& operator=(const Trackers&) = delete;

  /// No tracker runs here: log() has nothing to do.
  bool empty() const noexcept { return trackers_.empty(); }
  /// Hands on what is ready, in order. Waits only if very much is late.
  void log(LateRecord record);
  /// Waits for what is late, and ends all trackers. Once; later calls do nothing.
  void finish();
  /// The tracker of this name; one that takes everything and does nothing if it does not run on
  /// this rank. Throws ConfigError for a name that was not asked for.
  Tracker& find(std::string_view name) const;

  const TrackerOptions& options() const noexcept { return options_; }
  std::int64_t last_step() const noexcept { return last_step_; }  ///< -1 before the first record.

 private:
  void start(const TrackersRequest& request);
  void hand_on();

  TrackerOptions options_;
  std::unique_ptr<RunFolder> folder_;
  std::vector<std::string> names_;  ///< Of all ranks' trackers.
  std::vector<GuardedTracker> trackers_;
  std::deque<LateRecord> late_;
  std::int64_t last_step_ = -1;
};

}  // namespace muster::tracking
