#pragma once

#include "plan.hpp"
#include "screen/screen.hpp"
#include "supervise.hpp"

#include <string>

namespace muster::launcher {

/// What went wrong, for people: at most 25 lines, each ending with a newline; empty if nothing did.
/// `brief` is the first line only.
std::string failure_text(const Outcome& outcome, const Plan& plan, const Screen& screen,
                         bool brief);

}  // namespace muster::launcher
