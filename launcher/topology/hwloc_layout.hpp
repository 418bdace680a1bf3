#pragma once

#include "topology/layout.hpp"

#include <optional>
#include <string>

namespace muster::launcher {

/// This host as hwloc sees it; nothing if the library is not installed or cannot tell.
std::optional<Layout> hwloc_layout();

/// The same as hwloc's own XML, which lstopo reads too; empty if it cannot be had.
std::string hwloc_xml();

/// The layout of a host that was recorded as XML. Throws ConfigError if the library is not
/// installed, or does not take the text.
Layout layout_of_xml(const std::string& xml);

}  // namespace muster::launcher
