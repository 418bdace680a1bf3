#pragma once

#include <muster/tracker.hpp>

#include "tracking/line_file.hpp"

namespace muster::tracking {

/// events.out.tfevents.*: TensorBoard shows the files of a folder as one run, so each start of the
/// program adds one. A start at a step that was logged before replaces what came from there on.
class TensorboardTracker : public Tracker {
 public:
  std::string_view name() const override { return "tensorboard"; }
  void start(const TrackedRun& run) override;
  void log(const TrackedRecord& record) override;
  void finish() override;

 private:
  LineFile file_;
  bool began_ = false;  ///< The file says at which step.
  std::int64_t last_step_ = 0;
};

}  // namespace muster::tracking
