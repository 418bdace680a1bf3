#pragma once

#include <muster/tracker.hpp>

#include <memory>
#include <string>
#include <vector>

namespace muster::tracking {

/// The trackers that log_with names; `all` is each of them, `none` none. Throws ConfigError for a
/// name that there is not.
std::vector<std::shared_ptr<Tracker>> make_trackers(const std::vector<std::string>& names);

}  // namespace muster::tracking
