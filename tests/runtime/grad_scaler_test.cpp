#include <muster/grad_scaler.hpp>

#include <catch2/catch_test_macros.hpp>

#include <limits>
#include <string>

using muster::GradScaler;
using muster::GradScalerOptions;
using muster::GradScalerState;

TEST_CASE("the scale halves after an overflow and doubles after enough good steps") {
  GradScaler scaler({.growth_interval = 3});
  CHECK(scaler.scale() == 65536);
  scaler.update(false);
  CHECK(scaler.state() == GradScalerState{32768, 0});
  scaler.update(true);
  scaler.update(true);
  CHECK(scaler.state() == GradScalerState{32768, 2});
  scaler.update(false);
  CHECK(scaler.state() == GradScalerState{16384, 0});
  for (int i = 0; i < 3; ++i) scaler.update(true);
  CHECK(scaler.state() == GradScalerState{32768, 0});
}

TEST_CASE("the scale stops at its floor, and before it is no number any more") {
  GradScaler low({.init_scale = 8, .min_scale = 2});
  for (int i = 0; i < 9; ++i) low.update(false);
  CHECK(low.scale() == 2);
  low.load_state({0.5, 3});
  low.update(false);
  CHECK(low.scale() == 0.5);
  GradScaler high({.init_scale = 0x1p125, .growth_interval = 1});
  for (int i = 0; i < 9; ++i) high.update(true);
  CHECK(high.scale() == 0x1p126);
}

TEST_CASE("a loaded state goes on as if nothing had been") {
  GradScaler first({.init_scale = 1024, .growth_interval = 2});
  first.update(true);
  GradScaler second({.growth_interval = 2});
  second.load_state(first.state());
  CHECK(second.state() == GradScalerState{1024, 1});
  for (const bool finite : {true, false, true, true}) {
    first.update(finite);
    second.update(finite);
    CHECK(first.state() == second.state());
  }
}

TEST_CASE("without fp16 the scale is 1 and stays so") {
  GradScaler scaler({}, false);
  CHECK_FALSE(scaler.enabled());
  scaler.update(false);
  CHECK(scaler.scale() == 1);
}

TEST_CASE("options and states that cannot be are named") {
  const auto fault = [](const GradScalerOptions& options) {
    try {
      GradScaler{options};
    } catch (const muster::ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(fault({.init_scale = 0}) == "grad scaler: init_scale = 0: expected a number above 0");
  CHECK(fault({.init_scale = nan}).find("init_scale") != std::string::npos);
  CHECK(fault({.growth_factor = 0.5}).find("growth_factor = 0.5") != std::string::npos);
  CHECK(fault({.backoff_factor = 1}).find("backoff_factor = 1") != std::string::npos);
  CHECK(fault({.growth_interval = 0}).find("growth_interval = 0") != std::string::npos);
  CHECK(fault({.init_scale = 2, .min_scale = 4}).find("at most init_scale") != std::string::npos);
  CHECK(fault({.max_skips = 0}).find("max_skips = 0") != std::string::npos);
  GradScaler scaler;
  CHECK_THROWS_AS(scaler.load_state({-1, 0}), muster::ConfigError);
  CHECK_THROWS_AS(scaler.load_state({1, -1}), muster::ConfigError);
  CHECK(scaler.scale() == 65536);
}
