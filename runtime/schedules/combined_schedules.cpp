#include <muster/combined_schedules.hpp>

#include "schedule_check.hpp"

#include <algorithm>
#include <utility>

namespace muster {
namespace {

/// What schedules made of schedules have in common.
class CombinedRule : public ScheduleRule {
 public:
  explicit CombinedRule(std::vector<Schedule> parts) : parts_(std::move(parts)) {}

  void require_groups(std::size_t groups) const override {
    for (const auto& part : parts_) part->require_groups(groups);
  }
  bool cycles_momentum() const override {
    return std::ranges::any_of(parts_, [](const auto& part) { return part->cycles_momentum(); });
  }
  bool takes_metric() const override {
    return std::ranges::any_of(parts_, [](const auto& part) { return part->takes_metric(); });
  }
  void save(SchedulerState& state, const std::string& prefix) const override {
    for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i]->save(state, name(prefix, i));
  }
  void load(const SchedulerState& state, const std::string& prefix) override {
    for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i]->load(state, name(prefix, i));
  }

 protected:
  static std::string name(const std::string& prefix, std::size_t part) {
    return prefix + std::to_string(part) + '.';
  }
  std::vector<Schedule> parts_;
};

class WarmupRule final : public CombinedRule {
 public:
  explicit WarmupRule(const WarmupLR& options)
      : CombinedRule({options.then}),
        steps_(options.num_warmup_steps),
        start_factor_(options.start_factor) {}

  std::unique_ptr<ScheduleRule> clone() const override {
    return std::make_unique<WarmupRule>(*this);
  }
  GroupRates rates(const SchedulePoint& point, const GroupRates& base) const override {
    auto after = point;
    after.step = std::max<std::int64_t>(point.step - steps_, 0);
    auto rates = parts_.front()->rates(after, base);
    if (point.step < steps_) {
      rates.lr *= start_factor_ + (1 - start_factor_) * static_cast<double>(point.step) /
                                      static_cast<double>(steps_);
    }
    return rates;
  }
  void observe(double metric, std::int64_t step) override {
    if (step >= steps_) parts_.front()->observe(metric, step - steps_);
  }

 private:
  std::int64_t steps_;
  double start_factor_;
};

class SequentialRule final : public CombinedRule {
 public:
  SequentialRule(std::vector<Schedule> parts, std::vector<std::int64_t> milestones)
      : CombinedRule(std::move(parts)), milestones_(std::move(milestones)) {}

  std::unique_ptr<ScheduleRule> clone() const override {
    return std::make_unique<SequentialRule>(*this);
  }
  GroupRates rates(const SchedulePoint& point, const GroupRates& base) const override {
    const auto index = under_way(point.step);
    return parts_[index]->rates({point.step - begin(index), point.group}, base);
  }
  void observe(double metric, std::int64_t step) override {
    const auto index = under_way(step);
    parts_[index]->observe(metric, step - begin(index));
  }

 private:
  std::size_t under_way(std::int64_t step) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(milestones_, step) -
                                    milestones_.begin());
  }
  std::int64_t begin(std::size_t index) const { return index == 0 ? 0 : milestones_[index - 1]; }

  std::vector<std::int64_t> milestones_;
};

class ChainedRule final : public CombinedRule {
 public:
  using CombinedRule::CombinedRule;

  std::unique_ptr<ScheduleRule> clone() const override {
    return std::make_unique<ChainedRule>(*this);
  }
  bool takes_steps() const override {
    return std::ranges::any_of(parts_, [](const auto& part) { return part->takes_steps(); });
  }
  GroupRates rates(const SchedulePoint& point, const GroupRates& base) const override {
    auto rates = base;
    for (const auto& part : parts_) rates = part->rates(point, rates);
    return rates;
  }
  void observe(double metric, std::int64_t step) override {
    for (auto& part : parts_) part->observe(metric, step);
  }
};

}  // namespace

std::unique_ptr<ScheduleRule> WarmupLR::make_rule() const {
  require_at_least(0, "WarmupLR: num_warmup_steps", num_warmup_steps);
  require_not_negative("WarmupLR: start_factor", start_factor);
  return std::make_unique<WarmupRule>(*this);
}

std::unique_ptr<ScheduleRule> SequentialLR::make_rule() const {
  if (schedules.size() != milestones.size() + 1) {
    throw ConfigError("SequentialLR: " + std::to_string(schedules.size()) + " schedules and " +
                      std::to_string(milestones.size()) +
                      " milestones; each schedule but the first has a milestone");
  }
  for (std::size_t i = 0; i < milestones.size(); ++i) {
    require_at_least(i == 0 ? 0 : milestones[i - 1], "SequentialLR: milestone " + std::to_string(i),
                     milestones[i]);
  }
  return std::make_unique<SequentialRule>(schedules, milestones);
}

std::unique_ptr<ScheduleRule> ChainedLR::make_rule() const {
  if (schedules.empty()) throw ConfigError("ChainedLR: no schedule was given");
  return std::make_unique<ChainedRule>(schedules);
}

}  // namespace muster
