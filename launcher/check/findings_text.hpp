#pragma once

#include "check/findings.hpp"
#include "plan.hpp"
#include "screen/screen.hpp"

#include <string>
#include <vector>

namespace muster::launcher {

/// The table of what was checked, for people; below it what was not, and one line that sums up.
std::string findings_text(const Findings& findings, const Plan& plan, double seconds,
                          const Screen& screen);

/// The same as JSON. `outcome`: how the job ended, in one word.
std::string findings_json(const Findings& findings, const Plan& plan, double seconds,
                          std::string_view outcome);

/// "the check 'all_reduce' was under way on ranks 0-2", one line for each; empty if none was.
std::vector<std::string> checks_under_way(const Findings& findings);

}  // namespace muster::launcher
