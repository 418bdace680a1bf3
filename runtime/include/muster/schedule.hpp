#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster {

/// What a schedule is, between two steps: named lists of numbers, all finite, for a checkpoint to
/// store as they are. Whole numbers are exact up to 2^53.
using SchedulerState = std::map<std::string, std::vector<double>>;

/// What a schedule sets of a parameter group.
struct GroupRates {
  double lr = 0;
  std::optional<double> momentum{};  ///< SGD's and RMSprop's momentum, Adam's beta1.
};

/// Where a schedule is asked: after `step` steps, for the optimizer's group of that index.
struct SchedulePoint {
  std::int64_t step = 0;
  std::size_t group = 0;
};

/// A schedule's mathematics, without an optimizer. Implementations other than plateau's depend on
/// the point alone.
class ScheduleRule {
 public:
  virtual ~ScheduleRule() = default;
  virtual std::unique_ptr<ScheduleRule> clone() const = 0;
  /// `base`: what the program gave that group of the optimizer.
  virtual GroupRates rates(const SchedulePoint& point, const GroupRates& base) const = 0;

  /// Throws ConfigError if lists in it do not fit an optimizer of that many groups.
  virtual void require_groups(std::size_t groups) const { (void)groups; }
  virtual bool cycles_momentum() const { return false; }
  virtual bool takes_steps() const { return true; }    ///< False: metrics alone move it.
  virtual bool takes_metric() const { return false; }  ///< It has use for observe().
  /// A metric, measured after `step` steps.
  virtual void observe(double metric, std::int64_t step) { (void)metric, (void)step; }
  /// What the step alone does not tell, under names that begin with `prefix`.
  virtual void save(SchedulerState& state, const std::string& prefix) const {
    (void)state, (void)prefix;
  }
  /// Throws CheckpointError for a name that is missing or wrong.
  virtual void load(const SchedulerState& state, const std::string& prefix) {
    (void)state, (void)prefix;
  }
};

/// A schedule by its closed form: the learning rate after `step` steps of a group that has `base`.
template <class T>
concept ClosedForm =
    std::copy_constructible<T> && requires(const T& schedule, std::int64_t step, double base) {
      { schedule.rate(step, base) } -> std::convertible_to<double>;
    };

/// Options that have a rule of their own.
template <class T>
concept RuleOptions = requires(const T& options) {
  { options.make_rule() } -> std::same_as<std::unique_ptr<ScheduleRule>>;
};

/// From the step to the factor of the learning rate.
template <class T>
concept FactorFunction =
    std::copy_constructible<T> && requires(const T& function, std::int64_t step) {
      { function(step) } -> std::convertible_to<double>;
    };

template <class T>
concept AnySchedule = ClosedForm<T> || RuleOptions<T> || FactorFunction<T>;

/// The rule of a closed form.
template <ClosedForm T>
class ClosedFormRule final : public ScheduleRule {
 public:
  explicit ClosedFormRule(T form) : form_(std::move(form)) {
    if constexpr (requires { form_.check(); }) form_.check();
  }
  std::unique_ptr<ScheduleRule> clone() const override {
    return std::make_unique<ClosedFormRule>(*this);
  }
  GroupRates rates(const SchedulePoint& point, const GroupRates& base) const override {
    return {static_cast<double>(form_.rate(point.step, base.lr)), base.momentum};
  }

 private:
  T form_;
};

/// The rule of factors, one for all groups or one each.
std::unique_ptr<ScheduleRule> make_factor_rule(
    std::vector<std::function<double(std::int64_t)>> factors);

/// Any schedule, as a value: made of those in muster/schedules.hpp, of a function from the step to
/// a factor, or of a struct of the program with `double rate(std::int64_t step, double base) const`
/// (and, if it likes, `void check() const`, which throws for options that cannot be).
class Schedule {
 public:
  Schedule();  ///< Leaves the rate as it is.
  template <class T>
    requires(!std::same_as<T, Schedule> && AnySchedule<T>)
  Schedule(T options)  // NOLINT(google-explicit-constructor): it stands where options are listed
      : rule_(rule_of(std::move(options))) {}
  Schedule(const Schedule& other) : rule_(other.rule_->clone()) {}
  Schedule(Schedule&& other) noexcept = default;
  Schedule& operator=(const Schedule& other) {
    if (this != &other) rule_ = other.rule_->clone();
    return *this;
  }
  Schedule& operator=(Schedule&& other) noexcept = default;
  ~Schedule() = default;

  ScheduleRule& operator*() noexcept { return *rule_; }
  const ScheduleRule& operator*() const noexcept { return *rule_; }
  ScheduleRule* operator->() noexcept { return rule_.get(); }
  const ScheduleRule* operator->() const noexcept { return rule_.get(); }

 private:
  template <class T>
  static std::unique_ptr<ScheduleRule> rule_of(T options) {
    if constexpr (RuleOptions<T>) {
      return options.make_rule();
    } else if constexpr (ClosedForm<T>) {
      return std::make_unique<ClosedFormRule<T>>(std::move(options));
    } else {
      return make_factor_rule({std::move(options)});
    }
  }
  std::unique_ptr<ScheduleRule> rule_;
};

}  // namespace muster
