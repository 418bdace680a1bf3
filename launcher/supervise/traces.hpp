#pragma once

#include "plan.hpp"
#include "supervise/job_facts.hpp"

#include <string>
#include <vector>

namespace muster::launcher {

/// Adds what ranks that failed have left on disk: error files and core dumps. Once all have ended.
void collect_traces(const Plan& plan, const std::vector<std::string>& programs,
                    std::vector<RankFacts>& ranks);

}  // namespace muster::launcher
