#pragma once

#include "diagnose/hang_facts.hpp"

#include <string>
#include <vector>

namespace muster::launcher {

/// One line that says what every rank does: "ranks 0, 2, 3 wait in all_reduce #812 'gradients';
/// rank 1 is in its own code at step 40". Names that ranks made up are made printable. Pure.
std::string verdict(const HangFacts& facts);

/// "rank 3", "ranks 0, 2-5", with a verb that fits: the first of `verbs` for one rank.
std::string ranks_do(const std::vector<int>& ranks, const std::string& does,
                     const std::string& they);

}  // namespace muster::launcher
