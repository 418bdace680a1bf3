#pragma once

#include <muster/tracker.hpp>

#include "tracking/line_file.hpp"

namespace muster::tracking {

/// metrics.jsonl: a line a record, {"step":3,"time":1764547712.25,"loss":0.5}.
class JsonlTracker : public Tracker {
 public:
  std::string_view name() const override { return "jsonl"; }
  void start(const TrackedRun& run) override;
  void log(const TrackedRecord& record) override;

 private:
  LineFile file_;
};

}  // namespace muster::tracking
