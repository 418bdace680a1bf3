#include "tracking/html_tracker.hpp"

#include "tracking/line_file.hpp"
#include "tracking/now.hpp"
#include "tracking/report_page.hpp"

#include <algorithm>

namespace muster::tracking {
namespace {

/// What is there, or an empty report.
Report read_report(const std::filesystem::path& path) {
  const auto page = read_whole(path);
  if (page.empty()) return {};
  try {
    if (const auto json = report_in_page(page)) return report_from_json(*json);
  } catch (const std::exception&) {
    // Said below, as for a page of another kind.
  }
  throw TrackerError("'" + path.string() +
                     "' is not what the html tracker writes; move it away, or choose another "
                     "project");
}

}  // namespace

void HtmlTracker::start(const TrackedRun& run) {
  path_ = run.folder / "report.html";
  report_ = read_report(path_);
  report_.project = run.project;
  report_.config = run.config;
  began_ = false;
  next_ = {};
  write(false);
}

void HtmlTracker::log(const TrackedRecord& record) {
  if (!began_) report_.cut(record.step);
  began_ = true;
  report_.add(record);
  if (Clock::now() >= next_) write(false);
}

void HtmlTracker::finish() { write(true); }

void HtmlTracker::write(bool ended) {
  const auto begin = Clock::now();
  swap_file(path_, report_page(report_, now(), ended));
  const auto end = Clock::now();
  // No more than a thousandth of the time.
  next_ = end + std::max<Clock::duration>(std::chrono::seconds(10), (end - begin) * 1000);
}

}  // namespace muster::tracking
