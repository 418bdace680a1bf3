#pragma once

#include "plan.hpp"
#include "screen/screen.hpp"
#include "supervise.hpp"

#include <string>
#include <vector>

namespace muster::launcher {

/// "SIGSEGV (exit 139, core dumped)", "exit 7"
std::string how_it_ended(const RankEnd& end);

/// "rank 3", "ranks 0-2,5"
std::string ranks_text(const std::vector<int>& ranks);

/// The job is one rank.
bool is_alone(const Plan& plan);

/// A signal that a program does not get by a fault of its own, and that muster did not send.
bool was_killed_from_outside(const RankEnd& end);

/// The line that names `outcome.first`, which must be there: what happened to it, where and when.
/// Each kind of failure has its own words. With "muster: " and a newline.
std::string first_line(const Outcome& outcome, const Plan& plan, const Screen& screen);

}  // namespace muster::launcher
