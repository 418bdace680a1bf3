#pragma once

#include "plan.hpp"

#include <string>

namespace muster::launcher {

/// What stands before each line of a rank: `pattern` with {rank}, {local_rank}, {node} and {host}
/// replaced. Throws ConfigError for another word in braces.
std::string expand_prefix(const std::string& pattern, const ProcessSpec& spec);

/// Columns that it takes on a terminal.
int columns_of(const std::string& prefix);

/// The same in a rank's own colour, one of a few that can be read on dark and on light ground.
std::string coloured(const std::string& prefix, int rank);

}  // namespace muster::launcher
