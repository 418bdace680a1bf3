#include "tracking/kinds.hpp"

#include "tracking/csv_tracker.hpp"
#include "tracking/html_tracker.hpp"
#include "tracking/jsonl_tracker.hpp"
#include "tracking/tensorboard_tracker.hpp"

namespace muster::tracking {

std::vector<std::shared_ptr<Tracker>> make_trackers(const std::vector<std::string>& names) {
  const std::vector<std::shared_ptr<Tracker>> all{
      std::make_shared<JsonlTracker>(), std::make_shared<CsvTracker>(),
      std::make_shared<TensorboardTracker>(), std::make_shared<HtmlTracker>()};
  std::vector<std::shared_ptr<Tracker>> chosen;
  for (const auto& name : names) {
    const auto before = chosen.size();
    for (const auto& tracker : all) {
      if (name == "all" || name == tracker->name()) chosen.push_back(tracker);
    }
    if (name != "none" && chosen.size() == before) {
      std::string known;
      for (const auto& tracker : all) known += std::string(tracker->name()) + ", ";
      throw ConfigError("log_with: there is no tracker '" + name + "'; " + known +
                        "all and none are there");
    }
  }
  return chosen;
}

}  // namespace muster::tracking
