#pragma once

#include "plan.hpp"

#include <string>

namespace muster::launcher {

/// What stands before each line of a rank: `pattern` with {rank}, {local_rank}, {node} and {host}
/// replaced. Throws ConfigError for another word in braces.
std::string expand_prefix(const std::string& pattern, const ProcessSpec& spec);

/// Columns that it takes on a terminal.
int columns_of(const std::string& prefix);

}  // namespace muster::launcher
