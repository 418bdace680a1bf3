#pragma once

#include <muster/tracker.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace muster {

/// What follows when a tracker throws. Where it is said, it is said once a tracker.
enum class TrackerTrouble : std::uint8_t {
  at_start,  ///< Starting one throws TrackerError, before training; later it is said.
  never,     ///< It is said, and training goes on without what the tracker lost.
  always,    ///< TrackerError from whichever call met it.
};

/// Of Accelerator::init_trackers.
struct TrackerOptions {
  std::vector<std::shared_ptr<Tracker>> trackers{};  ///< The program's own, besides log_with.
  TrackerTrouble trouble = TrackerTrouble::at_start;
  /// Adds to the first record of each step, unless it has them: learning_rate (of the first
  /// optimizer's first group), system/steps_per_second and system/memory_mib (of rank 0).
  bool measure = true;
};

}  // namespace muster
