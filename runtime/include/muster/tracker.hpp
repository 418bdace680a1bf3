#pragma once

#include <muster/error.hpp>
#include <muster/tracked_value.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// A name and its value: one of what is logged at a step, or a hyper-parameter.
struct TrackedItem {
  std::string name;
  TrackedValue value;
};
using TrackedItems = std::vector<TrackedItem>;

/// What one call of log() gave.
struct TrackedRecord {
  std::int64_t step = 0;
  double time = 0;  ///< Seconds since 1970, of the call.
  TrackedItems items;
};

/// What a tracker is started for.
struct TrackedRun {
  std::string project;
  TrackedItems config;           ///< Hyper-parameters, in the order given.
  std::filesystem::path folder;  ///< Of the run: there on rank 0, and for this program alone.
};

/// A tracker cannot do what it should: a folder that may not be written, a full disk.
class TrackerError : public Error {
 public:
  using Error::Error;
};

/// Takes what a training program logs somewhere. Derive from it for a tracker of your own, and
/// hand that to Accelerator::init_trackers.
///
/// Members are called from the thread that calls the Accelerator's, start() first. They may throw
/// what derives from std::exception: see TrackerTrouble for what follows. A tracker that keeps
/// throwing is asked more and more rarely.
class Tracker {
 public:
  virtual ~Tracker() = default;

  /// One word, for messages and get_tracker().
  virtual std::string_view name() const = 0;
  /// False: it is started on every rank. Only rank 0's has a run folder.
  virtual bool main_process_only() const { return true; }
  virtual void start(const TrackedRun& run) = 0;
  /// In the order of the calls of log(); a step may come again, and steps may go back.
  virtual void log(const TrackedRecord& record) = 0;
  /// Nothing comes any more. Not called when the program is killed.
  virtual void finish() {}
};

}  // namespace muster
