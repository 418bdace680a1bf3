#pragma once

#include "tracking/report.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace muster::tracking {

/// A page that needs nothing besides itself: pictures, the report as JSON, and a script that tells
/// the values under the pointer. `time`: seconds since 1970. `ended`: nothing more will come.
std::string report_page(const Report& report, double time, bool ended);
/// The report as JSON out of such a page; nothing if it is none.
std::optional<std::string_view> report_in_page(std::string_view page);

}  // namespace muster::tracking
