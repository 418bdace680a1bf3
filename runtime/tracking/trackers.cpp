#include "tracking/trackers.hpp"

#include <muster/log.hpp>

#include "tracking/json_text.hpp"
#include "tracking/kinds.hpp"
#include "tracking/line_file.hpp"

#include <algorithm>
#include <utility>

namespace muster::tracking {
namespace {

constexpr std::size_t most_late = 64;

/// Stands for a tracker that runs on another rank.
class BlankTracker : public Tracker {
 public:
  std::string_view name() const override { return "blank"; }
  void start(const TrackedRun&) override {}
  void log(const TrackedRecord&) override {}
};

void add_own(std::vector<std::shared_ptr<Tracker>>& trackers, const TrackerOptions& options) {
  for (const auto& own : options.trackers) {
    if (!own) throw ConfigError("init_trackers: one of the trackers is null");
    trackers.push_back(own);
  }
}

}  // namespace

Trackers::Trackers(const TrackersRequest& request) : options_(request.options) {
  check_project(request.project);
  auto all = make_trackers(request.log_with);
  add_own(all, options_);
  for (const auto& tracker : all) {
    const std::string name(tracker->name());
    if (std::ranges::find(names_, name) != names_.end()) {
      throw ConfigError("init_trackers: two trackers are called '" + name + "'");
    }
    names_.push_back(name);
    if (request.rank != 0 && tracker->main_process_only()) continue;
    trackers_.emplace_back(tracker, options_.trouble);
  }
  if (!trackers_.empty()) start(request);
}

Trackers::~Trackers() {
  try {
    finish();
  } catch (const std::exception& error) {
    muster::log(LogLevel::warning, error.what());
  }
}

void Trackers::start(const TrackersRequest& request) {
  TrackedRun run{request.project, request.config, {}};
  if (request.rank == 0) {
    try {
      folder_ = std::make_unique<RunFolder>(request.parent, request.project);
      run.folder = folder_->path();
      swap_file(run.folder / "config.json", R"({"project":)" + json(std::string_view(run.project)) +
                                                R"(,"config":{)" + json_members(run.config) +
                                                "}}\n");
    } catch (const TrackerError& error) {
      if (options_.trouble != TrackerTrouble::never) throw;
      // Without a folder none of them has a place to write to, so this is said once for all.
      muster::log(LogLevel::warning,
                  std::string("trackers: ") + error.what() + "; training goes on untracked");
      trackers_.clear();
      return;
    }
  }
  for (auto& tracker : trackers_) tracker.start(run);
}

void Trackers::log(LateRecord record) {
  last_step_ = record.step;
  late_.push_back(std::move(record));
  while (!late_.empty() && (late_.front().ready() || late_.size() > most_late)) hand_on();
}

void Trackers::finish() {
  while (!late_.empty()) hand_on();
  for (auto& tracker : std::exchange(trackers_, {})) tracker.finish();
}

Tracker& Trackers::find(std::string_view name) const {
  static BlankTracker blank;
  for (const auto& tracker : trackers_) {
    if (tracker.tracker().name() == name && tracker.running()) return tracker.tracker();
  }
  if (std::ranges::find(names_, name) != names_.end()) return blank;
  std::string known;
  for (const auto& other : names_) known += (known.empty() ? "" : ", ") + other;
  throw ConfigError("get_tracker: there is no tracker '" + std::string(name) + "'; " +
                    (known.empty() ? "none was chosen" : "chosen were " + known));
}

void Trackers::hand_on() {
  // Off the queue first, so that one that cannot be read is not met again.
  const LateRecord late = std::move(late_.front());
  late_.pop_front();
  const auto record = late.record();
  for (auto& tracker : trackers_) tracker.log(record);
}

}  // namespace muster::tracking
