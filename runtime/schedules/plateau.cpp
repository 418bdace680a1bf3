#include <muster/plateau.hpp>

#include "schedule_check.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace muster {
namespace {

class PlateauRule final : public ScheduleRule {
 public:
  explicit PlateauRule(ReduceLROnPlateau options) : options_(std::move(options)) {}

  std::unique_ptr<ScheduleRule> clone() const override {
    return std::make_unique<PlateauRule>(*this);
  }
  bool takes_steps() const override { return false; }
  bool takes_metric() const override { return true; }
  void require_groups(std::size_t groups) const override {
    require_one_each("ReduceLROnPlateau: min_lr", options_.min_lr.size(), groups);
  }

  /// What each reduction does depends on the rate, so they are made again, one by one.
  GroupRates rates(const SchedulePoint& point, const GroupRates& base) const override {
    const double least = value_for(options_.min_lr, point.group, 0.0);
    double lr = base.lr;
    for (std::int64_t i = 0; i < reductions_; ++i) {
      const double reduced = std::max(lr * options_.factor, least);
      if (lr - reduced <= options_.eps) break;  // nor would any later one be made
      lr = reduced;
    }
    return {lr, base.momentum};
  }

  void observe(double metric, std::int64_t /*step*/) override {
    if (is_better(metric)) {
      best_ = metric;
      bad_ = 0;
    } else {
      ++bad_;
    }
    if (cooldown_ > 0) {
      --cooldown_;
      bad_ = 0;
    }
    if (bad_ <= options_.patience) return;
    ++reductions_;
    cooldown_ = options_.cooldown;
    bad_ = 0;
  }

  void save(SchedulerState& state, const std::string& prefix) const override {
    // A list, for there is no best metric before the first.
    state[prefix + "best"] = best_ ? std::vector{*best_} : std::vector<double>{};
    state[prefix + "plateau"] = {static_cast<double>(bad_), static_cast<double>(cooldown_),
                                 static_cast<double>(reductions_)};
  }

  void load(const SchedulerState& state, const std::string& prefix) override {
    const auto& counts = state_values(state, prefix + "plateau", 3);
    const auto best = state.find(prefix + "best");
    if (best != state.end() && best->second.empty()) {
      best_.reset();
    } else {
      best_ = state_values(state, prefix + "best", 1).front();
    }
    bad_ = static_cast<std::int64_t>(counts[0]);
    cooldown_ = static_cast<std::int64_t>(counts[1]);
    reductions_ = static_cast<std::int64_t>(counts[2]);
  }

 private:
  /// NaN is not.
  bool is_better(double metric) const {
    // As PyTorch's first best, which is infinite: nothing finite can fail to beat it.
    if (!best_) return std::isfinite(metric);
    const double sign = options_.mode == PlateauMode::min ? -1 : 1;
    const double margin = options_.threshold_mode == ThresholdMode::rel
                              ? *best_ * options_.threshold
                              : options_.threshold;
    const double bar = *best_ + sign * margin;
    return sign > 0 ? metric > bar : metric < bar;
  }

  ReduceLROnPlateau options_;
  std::optional<double> best_;
  std::int64_t bad_ = 0, cooldown_ = 0, reductions_ = 0;
};

}  // namespace

std::unique_ptr<ScheduleRule> ReduceLROnPlateau::make_rule() const {
  require_option(factor >= 0 && factor < 1, "ReduceLROnPlateau: factor", factor,
                 "at least 0 and less than 1");
  require_at_least(0, "ReduceLROnPlateau: patience", patience);
  require_at_least(0, "ReduceLROnPlateau: cooldown", cooldown);
  require_not_negative("ReduceLROnPlateau: threshold", threshold);
  require_not_negative("ReduceLROnPlateau: eps", eps);
  for (const double lr : min_lr) require_not_negative("ReduceLROnPlateau: min_lr", lr);
  return std::make_unique<PlateauRule>(*this);
}

}  // namespace muster
