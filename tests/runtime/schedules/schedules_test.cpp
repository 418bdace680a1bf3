// The mathematics alone. The numbers are what PyTorch 2.11 and transformers compute.

#include <muster/error.hpp>
#include <muster/schedules.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <map>
#include <numbers>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinAbs;
using muster::Schedule;
using muster::SchedulerState;

namespace {

double lr_at(const Schedule& schedule, std::int64_t step, double base = 0.3) {
  return schedule->rates({step, 0}, {base, 0.9}).lr;
}

void check_rates(const Schedule& schedule, const std::map<std::int64_t, double>& expected) {
  for (const auto& [step, lr] : expected) {
    CAPTURE(step);
    CHECK_THAT(lr_at(schedule, step), WithinAbs(lr, 1e-14));
  }
}

/// A schedule of a program's own.
struct Halves {
  double rate(std::int64_t step, double base) const { return base * std::exp2(-step); }
};

struct Refused {
  double rate(std::int64_t /*step*/, double base) const { return base; }
  void check() const { throw muster::ConfigError("never"); }
};

}  // namespace

TEST_CASE("constant, linear, exponential, step and multi-step are PyTorch's") {
  check_rates(muster::ConstantLR{.factor = 0.25, .total_iters = 7},
              {{0, 0.075}, {6, 0.075}, {7, 0.3}});
  check_rates(muster::ConstantLR{}, {{4, 0.1}, {5, 0.3}});
  check_rates(muster::LinearLR{.start_factor = 0.2, .end_factor = 0.9, .total_iters = 7},
              {{0, 0.06}, {1, 0.09}, {6, 0.24}, {7, 0.27}, {90, 0.27}});
  check_rates(muster::ExponentialLR{.gamma = 0.9},
              {{0, 0.3}, {1, 0.27}, {20, 0.3 * std::pow(0.9, 20)}});
  check_rates(muster::StepLR{.step_size = 3, .gamma = 0.5},
              {{2, 0.3}, {3, 0.15}, {5, 0.15}, {6, 0.075}});
  check_rates(muster::MultiStepLR{.milestones = {9, 2, 5, 5}, .gamma = 0.5},
              {{1, 0.3}, {2, 0.15}, {4, 0.15}, {5, 0.0375}, {8, 0.0375}, {9, 0.01875}});
}

TEST_CASE("polynomial and inverse square root are PyTorch's and transformers'") {
  check_rates(muster::PolynomialLR{.total_iters = 11, .power = 1.7},
              {{0, 0.3}, {4, 0.1391298631572557}, {11, 0}, {15, 0}});
  check_rates(muster::PolynomialLR{.total_iters = 40, .power = 2, .lr_end = 1e-7},
              {{20, 0.07500007500000001}, {40, 1e-7}, {50, 1e-7}});
  check_rates(
      muster::WarmupLR{.num_warmup_steps = 10, .then = muster::InverseSqrtLR{.timescale = 10}},
      {{5, 0.15}, {10, 0.3}, {20, 0.21213203435596423}, {55, 0.12792042981336624}});
}

TEST_CASE("the cosines are PyTorch's and transformers'") {
  check_rates(muster::CosineAnnealingLR{.t_max = 9, .eta_min = 0.01},
              {{0, 0.3}, {4, 0.18017898576170494}, {9, 0.01}, {13, 0.1298210142382951}, {18, 0.3}});
  check_rates(muster::CosineAnnealingWarmRestarts{.t_0 = 5, .t_mult = 3, .eta_min = 0.01},
              {{3, 0.11019253581563263},
               {5, 0.3},
               {10, 0.2275},
               {19, 0.013168597893598175},
               {20, 0.3},
               {40, 0.18017898576170494}});
  check_rates(muster::CosineAnnealingWarmRestarts{.t_0 = 5, .eta_min = 0.01},
              {{3, 0.11019253581563263}, {5, 0.3}, {4998, 0.11019253581563263}});
  using muster::CosineLR;
  check_rates(
      muster::WarmupLR{.num_warmup_steps = 10, .then = CosineLR{.total_iters = 40}},
      {{0, 0}, {5, 0.15}, {10, 0.3}, {20, 0.2560660171779821}, {40, 0.04393398282201788}, {50, 0}});
  check_rates(CosineLR{.total_iters = 40, .num_cycles = 3, .hard_restarts = true},
              {{0, 0.3},
               {6, 0.17346516975603468},
               {13, 0.0004623999400308054},
               {14, 0.29815325108927065},
               {39, 0.004144511940348533},
               {40, 0}});
}

TEST_CASE("a cosine over so many steps stays where it ends") {
  const Schedule cosine = muster::CosineLR{.total_iters = 40, .lr_end = 0.03};
  CHECK(lr_at(cosine, 39) > 0.03);
  CHECK_THAT(lr_at(cosine, 40), WithinAbs(0.03, 1e-16));
  CHECK(lr_at(cosine, 60) == lr_at(cosine, 40));
}

TEST_CASE("wide restarts do not run over") {
  const Schedule schedule = muster::CosineAnnealingWarmRestarts{.t_0 = 1, .t_mult = 1'000'000'000};
  CHECK(std::isfinite(lr_at(schedule, 4'000'000'000'000'000'000)));
}

TEST_CASE("one cycle: rate and momentum are PyTorch's, then it stays") {
  const Schedule cycle = muster::OneCycleLR{.max_lr = {0.5}, .total_steps = 50};
  check_rates(cycle, {{0, 0.02},
                      {7, 0.26},
                      {14, 0.5},
                      {15, 0.4989935775245158},
                      {30, 0.28355918222114807},
                      {49, 2e-6},
                      {50, 2e-6},
                      {500, 2e-6}});
  const auto momentum = [&](std::int64_t step) {
    return *cycle->rates({step, 0}, {0.3, 0.9}).momentum;
  };
  CHECK_THAT(momentum(0), WithinAbs(0.95, 1e-14));
  CHECK_THAT(momentum(14), WithinAbs(0.85, 1e-14));
  CHECK_THAT(momentum(30), WithinAbs(0.8932883367091172, 1e-14));
  check_rates(muster::OneCycleLR{.max_lr = {0.5},
                                 .total_steps = 47,
                                 .pct_start = 0.23,
                                 .anneal_strategy = muster::AnnealStrategy::linear,
                                 .three_phase = true},
              {{5, 0.2646483180428134},
               {10, 0.49070336391437314},
               {15, 0.24605504587155969},
               {20, 0.019711931766489766},
               {30, 0.012131188779378316},
               {46, 2e-6}});
  CHECK_THAT(lr_at(muster::OneCycleLR{.total_steps = 50}, 14), WithinAbs(0.3, 1e-14));
  CHECK(lr_at(muster::OneCycleLR{.total_steps = 1}, 0) >= 0);
}

TEST_CASE("a warm-up leads to what follows, also where that does not begin at the rate itself") {
  check_rates(muster::WarmupLR{.num_warmup_steps = 4, .start_factor = 0.5},
              {{0, 0.15}, {2, 0.225}, {4, 0.3}, {99, 0.3}});
  check_rates(
      muster::WarmupLR{.num_warmup_steps = 4, .then = muster::LambdaLR{{[](auto) { return 2; }}}},
      {{0, 0}, {2, 0.3}, {4, 0.6}});
  check_rates(muster::WarmupLR{.num_warmup_steps = 0}, {{0, 0.3}});
}

TEST_CASE("schedules one after the other, and all at once") {
  using muster::CosineAnnealingLR, muster::ExponentialLR, muster::LinearLR, muster::StepLR;
  const LinearLR rise{.start_factor = 0.1, .end_factor = 1, .total_iters = 5};
  check_rates(muster::SequentialLR{.schedules = {rise, CosineAnnealingLR{.t_max = 10},
                                                 StepLR{.step_size = 2, .gamma = 0.3}},
                                   .milestones = {5, 15}},
              {{0, 0.03}, {4, 0.246}, {5, 0.3}, {10, 0.15}, {15, 0.3}, {17, 0.09}});
  check_rates(
      muster::ChainedLR{{rise, ExponentialLR{.gamma = 0.9}, StepLR{.step_size = 4, .gamma = 0.3}}},
      {{0, 0.03}, {3, 0.139968}, {4, 0.04842018}, {8, 0.01162261467}});
}

TEST_CASE("functions and structs of a program are schedules") {
  check_rates([](std::int64_t step) { return 1.0 / static_cast<double>(1 + step); },
              {{0, 0.3}, {2, 0.1}});
  check_rates(Halves{}, {{0, 0.3}, {1, 0.15}});
  check_rates(Schedule(), {{7, 0.3}});
  const Schedule each = muster::LambdaLR{{[](auto) { return 1; }, [](auto) { return 2; }}};
  CHECK(each->rates({0, 1}, {0.3, {}}).lr == 0.6);
  CHECK_THROWS_AS(Schedule(Refused{}), muster::ConfigError);
}

TEST_CASE("a plateau is counted as PyTorch does") {
  Schedule plateau =
      muster::ReduceLROnPlateau{.factor = 0.1, .patience = 1, .cooldown = 1, .min_lr = {0.002}};
  const auto after = [&](std::initializer_list<double> metrics) {
    for (const double metric : metrics) plateau->observe(metric, 0);
    return lr_at(plateau, 0);
  };
  CHECK(after({1.0, 0.99995}) == 0.3);  // not better by a share of 1e-4
  CHECK_THAT(after({1.0}), WithinAbs(0.03, 1e-15));
  CHECK_THAT(after({1.0, 1.0}), WithinAbs(0.03, 1e-15));  // cooling down, then one bad one
  CHECK_THAT(after({NAN}), WithinAbs(0.003, 1e-15));
  CHECK_THAT(after({1.0, 1.0, 1.0}), WithinAbs(0.002, 1e-15));
  CHECK_THAT(after({0.5, 0.4, 0.3, 0.2}), WithinAbs(0.002, 1e-15));

  Schedule up = muster::ReduceLROnPlateau{.mode = muster::PlateauMode::max,
                                          .factor = 0.5,
                                          .patience = 0,
                                          .threshold = 0.1,
                                          .threshold_mode = muster::ThresholdMode::abs};
  up->observe(1, 0);
  up->observe(1.2, 1);
  CHECK(lr_at(up, 2) == 0.3);
  up->observe(1.25, 2);
  CHECK(lr_at(up, 3) == 0.15);
}

TEST_CASE("a plateau goes on exactly from what was saved, inside others too") {
  const Schedule made =
      muster::WarmupLR{.num_warmup_steps = 2,
                       .then = muster::ChainedLR{{muster::ReduceLROnPlateau{.patience = 1},
                                                  muster::StepLR{.step_size = 5}}}};
  Schedule first = made;
  for (int step = 0; step < 6; ++step) first->observe(1.0, step);
  SchedulerState state;
  first->save(state, "");
  Schedule second = made;
  second->load(state, "");
  for (int step = 6; step < 20; ++step) {
    CHECK(lr_at(first, step) == lr_at(second, step));
    first->observe(1.0, step);
    second->observe(1.0, step);
  }
  CHECK(lr_at(first, 6) < 0.04);
  CHECK(lr_at(made, 6) == 0.3);  // a copy is another
  CHECK_THROWS_MATCHES(second->load({}, ""), muster::CheckpointError,
                       MessageMatches(ContainsSubstring("0.0.plateau")));
}

TEST_CASE("metrics of a warm-up do not count") {
  Schedule schedule =
      muster::WarmupLR{.num_warmup_steps = 3, .then = muster::ReduceLROnPlateau{.patience = 0}};
  for (int step = 0; step < 3; ++step) schedule->observe(1, step);
  CHECK(lr_at(schedule, 3) == 0.3);
  schedule->observe(1, 3);
  schedule->observe(1, 4);
  CHECK_THAT(lr_at(schedule, 5), WithinAbs(0.03, 1e-15));
}

TEST_CASE("options that cannot be are refused, with what would work") {
  const auto refused = [](auto make, const char* text) {
    CHECK_THROWS_MATCHES(Schedule(make()), muster::ConfigError,
                         MessageMatches(ContainsSubstring(text)));
  };
  refused([] { return muster::StepLR{.step_size = 0}; },
          "StepLR: step_size is 0; it has to be at least 1");
  refused([] { return muster::CosineLR{.total_iters = -5}; }, "total_iters is -5");
  refused([] { return muster::ExponentialLR{.gamma = NAN}; }, "gamma is nan");
  refused([] { return muster::ReduceLROnPlateau{.factor = 1.5}; }, "factor is 1.5");
  refused(
      [] { return muster::OneCycleLR{.total_steps = 9, .pct_start = 0.7, .three_phase = true}; },
      "from 0 to 0.5");
  refused([] { return muster::SequentialLR{.schedules = {Halves{}}, .milestones = {5}}; },
          "1 schedules");
  refused(
      [] {
        return muster::SequentialLR{.schedules = {Halves{}, Halves{}, Halves{}},
                                    .milestones = {5, 4}};
      },
      "milestone 1 is 4; it has to be at least 5");
  refused([] { return muster::ChainedLR{}; }, "no schedule");
  refused([] { return muster::LambdaLR{}; }, "no function");
  const Schedule uneven = muster::ReduceLROnPlateau{.min_lr = {0.1, 0.2}};
  CHECK_THROWS_MATCHES(uneven->require_groups(3), muster::ConfigError,
                       MessageMatches(ContainsSubstring("2 values for an optimizer of 3 groups")));
}
