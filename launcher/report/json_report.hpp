#pragma once

#include "plan.hpp"
#include "supervise.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// "ok", "usage", "not_started", "rank_failed", "timeout", "interrupted", "lost"
std::string_view to_text(OutcomeKind kind);

/// The text of `--report FILE`: JSON with the same facts as the failure on the screen, and more;
/// README.md has all keys. `plan` may be empty: then nothing was started.
std::string json_report(const Outcome& outcome, const Plan& plan,
                        const std::vector<std::string>& command_line);

}  // namespace muster::launcher
