#include <muster/error.hpp>

#include "backends/strategies/support/meshes.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace muster;
using namespace muster::test;

TEST_CASE("strategies by name", "[strategies]") {
  for (const auto* name : {"auto", "ddp"}) {
    const auto strategy = make_strategy(name, alone(), {});
    CHECK(strategy->name() == "ddp");
    CHECK(strategy->stage() == 0);
    CHECK(strategy_name(name) == "ddp");
  }
  try {
    make_strategy("zoro", alone(), {});
    FAIL("no error");
  } catch (const ConfigError& error) {
    CHECK(std::string(error.what()) == "no strategy 'zoro'; this build has: auto, ddp");
  }
}

TEST_CASE("a strategy asks for its dimension of the mesh and for prepare first", "[strategies]") {
  StrategyOptions options;
  options.dimension = "pipeline";
  CHECK_THROWS_AS(make_data_parallel(alone(), options), ConfigError);
  auto strategy = make_data_parallel(alone(), {});
  CHECK_THROWS_AS(strategy->begin_forward(), ModelError);
  strategy->prepare({});
  CHECK_THROWS_AS(strategy->prepare({}), ConfigError);
}
