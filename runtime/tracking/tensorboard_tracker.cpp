#include "tracking/tensorboard_tracker.hpp"

#include "tracking/event_messages.hpp"
#include "tracking/now.hpp"

#include <array>
#include <unistd.h>

namespace muster::tracking {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "host";
  return name.data();
}

/// A name that no file of the folder has. TensorBoard reads them in the order of their names.
std::filesystem::path new_file(const std::filesystem::path& folder, double time) {
  const auto begin = "events.out.tfevents." + std::to_string(static_cast<std::int64_t>(time)) +
                     "." + host_name() + "." + std::to_string(getpid()) + ".";
  for (int number = 0;; ++number) {
    auto path = folder / (begin + std::to_string(number));
    if (!std::filesystem::exists(path)) return path;
  }
}

}  // namespace

void TensorboardTracker::start(const TrackedRun& run) {
  const double time = now();
  file_ = LineFile(new_file(run.folder, time), 0);
  auto events = framed(version_event(time));
  if (!run.config.empty()) events += framed(config_event(run, time));
  file_.append(events);
  began_ = false;
}

void TensorboardTracker::log(const TrackedRecord& record) {
  auto events = framed(record_event(record));
  if (!began_) events = framed(start_event(record.time, record.step)) + events;
  file_.append(events);
  began_ = true;
  last_step_ = record.step;
}

void TensorboardTracker::finish() { file_.append(framed(end_event(now(), last_step_))); }

}  // namespace muster::tracking
