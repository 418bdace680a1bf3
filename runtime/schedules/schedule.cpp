#include <muster/combined_schedules.hpp>
#include <muster/schedule.hpp>

#include "schedule_check.hpp"

#include <algorithm>

namespace muster {
namespace {

using Factor = std::function<double(std::int64_t)>;

class FactorRule final : public ScheduleRule {
 public:
  explicit FactorRule(std::vector<Factor> factors) : factors_(std::move(factors)) {}

  std::unique_ptr<ScheduleRule> clone() const override {
    return std::make_unique<FactorRule>(*this);
  }
  void require_groups(std::size_t groups) const override {
    require_one_each("LambdaLR: lr_lambda", factors_.size(), groups);
  }
  GroupRates rates(const SchedulePoint& point, const GroupRates& base) const override {
    const auto& factor = factors_.size() == 1 ? factors_.front() : factors_.at(point.group);
    return {base.lr * factor(point.step), base.momentum};
  }

 private:
  std::vector<Factor> factors_;
};

struct Unchanged {
  double rate(std::int64_t /*step*/, double base) const noexcept { return base; }
};

}  // namespace

Schedule::Schedule() : Schedule(Unchanged{}) {}

std::unique_ptr<ScheduleRule> make_factor_rule(std::vector<Factor> factors) {
  const bool whole = std::ranges::all_of(factors, [](const Factor& factor) { return !!factor; });
  if (factors.empty() || !whole) {
    throw ConfigError("LambdaLR: lr_lambda holds no function, or an empty one");
  }
  return std::make_unique<FactorRule>(std::move(factors));
}

std::unique_ptr<ScheduleRule> LambdaLR::make_rule() const { return make_factor_rule(lr_lambda); }

}  // namespace muster
