#pragma once

#include <muster/resolve.hpp>

#include "plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// The words of a command, as a shell would split them: at blanks, but for what stands in quotes or
/// behind a backslash. Nothing is expanded. Throws ConfigError, which names `option`, for a quote
/// that is not closed and for a backslash at the end.
std::vector<std::string> split_command(std::string_view text, const std::string& option);

/// Puts --wrap's command in front of the program of its ranks, and notes what belongs to it. Throws
/// ConfigError.
void wrap_ranks(const Resolution& resolution, Plan& plan);

}  // namespace muster::launcher
