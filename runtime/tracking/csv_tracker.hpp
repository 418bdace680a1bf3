#pragma once

#include <muster/tracker.hpp>

#include "tracking/line_file.hpp"

#include <string>
#include <vector>

namespace muster::tracking {

/// metrics.csv: step, time and a column a name; a record is a row, empty where it has no value. A
/// name that comes later gets a column behind the others, empty in the rows before.
class CsvTracker : public Tracker {
 public:
  std::string_view name() const override { return "csv"; }
  /// Throws TrackerError for a file that is there and does not begin with step,time.
  void start(const TrackedRun& run) override;
  void log(const TrackedRecord& record) override;

 private:
  /// The columns of the file and those that the record has besides.
  std::vector<std::string> columns_with(const TrackedRecord& record) const;
  void widen(const std::vector<std::string>& columns);

  LineFile file_;
  std::vector<std::string> columns_;  ///< Of the file; none before its first row.
};

}  // namespace muster::tracking
