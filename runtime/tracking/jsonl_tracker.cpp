#include "tracking/jsonl_tracker.hpp"

#include "tracking/json_text.hpp"

namespace muster::tracking {

void JsonlTracker::start(const TrackedRun& run) {
  const auto path = run.folder / "metrics.jsonl";
  // A computer that went off may leave half a line.
  const auto whole = read_whole(path).rfind('\n') + 1;
  file_ = LineFile(path, static_cast<std::int64_t>(whole));
}

void JsonlTracker::log(const TrackedRecord& record) {
  auto line = R"({"step":)" + std::to_string(record.step) + R"(,"time":)" + json(record.time);
  if (!record.items.empty()) line += ',' + json_members(record.items);
  file_.append(line + "}\n");
}

}  // namespace muster::tracking
