#include "diagnose/stall.hpp"

#include <algorithm>

namespace muster::launcher {
namespace {

/// How often one that is excused is looked at, in parts of the limit: it does not tell when it
/// ends.
constexpr std::int64_t looks = 8;

const Pulse* longest(const std::vector<const Pulse*>& pulses) {
  const auto first = std::ranges::min_element(
      pulses, [](const Pulse* a, const Pulse* b) { return a->last_ns < b->last_ns; });
  return first == pulses.end() ? nullptr : *first;
}

}  // namespace

StallCheck check_stall(const std::vector<Pulse>& pulses, std::int64_t now_ns,
                       std::int64_t resumed_ns, std::int64_t limit_ns, bool whole_job) {
  const StallCheck later{std::nullopt, now_ns + std::max<std::int64_t>(limit_ns / looks, 1)};
  if (std::ranges::any_of(pulses, &Pulse::excused)) return later;
  std::vector<const Pulse*> at_work, waiting;
  bool all_still = whole_job;
  for (const Pulse& pulse : pulses) {
    const bool still = now_ns - std::max(pulse.last_ns, resumed_ns) >= limit_ns;
    all_still = all_still && still;
    if (pulse.steps == 0) continue;
    (pulse.waiting ? waiting : at_work).push_back(&pulse);
  }
  if (at_work.empty() && waiting.empty()) return later;
  const auto since = [&](const Pulse* pulse) { return std::max(pulse->last_ns, resumed_ns); };
  for (const auto& [group, counts] : {std::pair{&at_work, true}, std::pair{&waiting, all_still}}) {
    const Pulse* const first = longest(*group);
    if (first && counts && now_ns - since(first) >= limit_ns)
      return {Stall{first->rank, since(first)}, 0};
  }
  // Those who wait are looked at again when somebody may have stopped moving.
  const Pulse* const next = longest(at_work);
  return next ? StallCheck{std::nullopt, since(next) + limit_ns} : later;
}

}  // namespace muster::launcher
