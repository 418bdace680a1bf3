#include "restart_policy.hpp"

#include <muster/error.hpp>
#include <muster/number_ranges.hpp>

namespace muster::launcher {

bool may_restart(const LaunchSettings& settings, const Outcome& outcome, int restart_count) {
  if (outcome.kind != OutcomeKind::rank_failed || !outcome.left.empty()) return false;
  if (restart_count >= settings.max_restarts || is_of_wrong_usage(outcome.exit_code)) return false;
  const auto codes = NumberRanges::parse(settings.restart_on);
  return settings.restart_on == "any" || (codes && codes->contains(outcome.exit_code));
}

}  // namespace muster::launcher
