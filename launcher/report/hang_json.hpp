#pragma once

#include "diagnose/hang_facts.hpp"

#include <nlohmann/json.hpp>

#include <string_view>

namespace muster::launcher {

/// What every rank did when they were looked at, for the report.
nlohmann::ordered_json hang_json(const HangFacts& hang);

/// The newest collective of a rank.
nlohmann::ordered_json collective_json(const ControlNote& note);

}  // namespace muster::launcher
