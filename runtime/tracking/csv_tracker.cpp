#include "tracking/csv_tracker.hpp"

#include "tracking/csv_text.hpp"
#include "tracking/number_text.hpp"

#include <algorithm>

namespace muster::tracking {
namespace {

std::string header(const std::vector<std::string>& columns) {
  std::vector<std::string> fields;
  for (const auto& column : columns) fields.push_back(csv_field(column));
  return csv_row(fields);
}

std::string row(const TrackedRecord& record, const std::vector<std::string>& columns) {
  std::vector<std::string> fields(columns.size());
  fields[0] = std::to_string(record.step);
  fields[1] = exact(record.time);
  for (const auto& item : record.items) {
    const auto column = std::find(columns.begin(), columns.end(), item.name);
    fields[static_cast<std::size_t>(column - columns.begin())] = csv_field(value_text(item.value));
  }
  return csv_row(fields);
}

}  // namespace

void CsvTracker::start(const TrackedRun& run) {
  const auto path = run.folder / "metrics.csv";
  const auto text = read_whole(path);
  // A computer that went off may leave half a row.
  const auto whole = whole_rows(text);
  columns_.clear();
  if (whole > 0) columns_ = first_row(text);
  if (!text.empty() && (columns_.size() < 2 || columns_[0] != "step" || columns_[1] != "time")) {
    throw TrackerError("'" + path.string() +
                       "' is not what the csv tracker writes: its first columns are not step,time");
  }
  file_ = LineFile(path, static_cast<std::int64_t>(whole));
}

void CsvTracker::log(const TrackedRecord& record) {
  auto columns = columns_with(record);
  if (columns_.empty()) {
    file_.append(header(columns) + row(record, columns));
  } else {
    if (columns.size() > columns_.size()) widen(columns);
    file_.append(row(record, columns));
  }
  columns_ = std::move(columns);
}

std::vector<std::string> CsvTracker::columns_with(const TrackedRecord& record) const {
  auto columns = columns_.empty() ? std::vector<std::string>{"step", "time"} : columns_;
  for (const auto& item : record.items) {
    if (std::ranges::find(columns, item.name) == columns.end()) columns.push_back(item.name);
  }
  return columns;
}

void CsvTracker::widen(const std::vector<std::string>& columns) {
  const auto path = file_.path();
  const auto text =
      header(columns) + widened_rows(read_whole(path), columns.size() - columns_.size());
  swap_file(path, text);
  columns_ = columns;
  file_ = LineFile(path, static_cast<std::int64_t>(text.size()));
}

}  // namespace muster::tracking
