#pragma once

#include <muster/tracker.hpp>

#include "tracking/report.hpp"

#include <chrono>
#include <filesystem>

namespace muster::tracking {

/// report.html: a page with curves, written anew now and then and at the end. It goes on from the
/// one that is there.
class HtmlTracker : public Tracker {
 public:
  std::string_view name() const override { return "html"; }
  /// Throws TrackerError for a report.html that is no report.
  void start(const TrackedRun& run) override;
  void log(const TrackedRecord& record) override;
  void finish() override;

 private:
  void write(bool ended);

  using Clock = std::chrono::steady_clock;
  std::filesystem::path path_;
  Report report_;
  bool began_ = false;
  Clock::time_point next_{};  ///< When it is written again.
};

}  // namespace muster::tracking
