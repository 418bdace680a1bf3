#include <muster/one_cycle.hpp>

#include "schedule_check.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace muster {
namespace {

/// A stretch of the cycle ends at a step, which PyTorch does not round, with these values.
struct Turn {
  double step = 0, lr = 0, momentum = 0;
};

class OneCycleRule final : public ScheduleRule {
 public:
  explicit OneCycleRule(OneCycleLR options) : options_(std::move(options)) {}

  std::unique_ptr<ScheduleRule> clone() const override {
    return std::make_unique<OneCycleRule>(*this);
  }
  bool cycles_momentum() const override { return options_.cycle_momentum; }
  void require_groups(std::size_t groups) const override {
    require_one_each("OneCycleLR: max_lr", options_.max_lr.size(), groups);
  }

  GroupRates rates(const SchedulePoint& point, const GroupRates& base) const override {
    const auto turns = turns_of(value_for(options_.max_lr, point.group, base.lr));
    const auto step = static_cast<double>(std::min(point.step, options_.total_steps - 1));
    std::size_t next = 1;
    while (next + 1 < turns.size() && step > turns[next].step) ++next;
    const auto& from = turns[next - 1];
    const auto& to = turns[next];
    const double length = to.step - from.step;
    const double share = length > 0 ? (step - from.step) / length : 1.0;
    GroupRates rates{between(from.lr, to.lr, share), base.momentum};
    if (options_.cycle_momentum) rates.momentum = between(from.momentum, to.momentum, share);
    return rates;
  }

 private:
  std::vector<Turn> turns_of(double max_lr) const {
    const double start = max_lr / options_.div_factor;
    const double end = start / options_.final_div_factor;
    const auto steps = static_cast<double>(options_.total_steps);
    const double top = options_.pct_start * steps - 1;
    std::vector<Turn> turns{{0, start, options_.max_momentum},
                            {top, max_lr, options_.base_momentum}};
    if (options_.three_phase) {
      turns.push_back({2 * options_.pct_start * steps - 2, start, options_.max_momentum});
    }
    turns.push_back({steps - 1, end, options_.max_momentum});
    return turns;
  }

  double between(double from, double to, double share) const {
    if (options_.anneal_strategy == AnnealStrategy::linear) return from + (to - from) * share;
    return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * share));
  }

  OneCycleLR options_;
};

void require_share(const std::string& option, double found, double most) {
  require_option(found >= 0 && found <= most, option, found,
                 most == 1 ? "from 0 to 1" : "from 0 to 0.5 with three_phase");
}

}  // namespace

std::unique_ptr<ScheduleRule> OneCycleLR::make_rule() const {
  require_at_least(1, "OneCycleLR: total_steps", total_steps);
  require_share("OneCycleLR: pct_start", pct_start, three_phase ? 0.5 : 1);
  require_share("OneCycleLR: base_momentum", base_momentum, 1);
  require_share("OneCycleLR: max_momentum", max_momentum, 1);
  for (const double lr : max_lr) require_not_negative("OneCycleLR: max_lr", lr);
  const auto above_zero = [](const char* option, double found) {
    require_option(std::isfinite(found) && found > 0, option, found, "a number greater than 0");
  };
  above_zero("OneCycleLR: div_factor", div_factor);
  above_zero("OneCycleLR: final_div_factor", final_div_factor);
  return std::make_unique<OneCycleRule>(*this);
}

}  // namespace muster
