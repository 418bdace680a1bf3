#include "strategies/attached_optimizer.hpp"

#include <muster/error.hpp>

#include "backends/strategies/support/meshes.hpp"
#include "backends/strategies/support/toy.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <torch/optim/adam.h>
#include <torch/optim/lbfgs.h>
#include <torch/optim/sgd.h>

using namespace muster;
using namespace muster::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using torch::optim::OptimizerParamGroup;
using torch::optim::SGD;
using torch::optim::SGDOptions;

namespace {

/// A type of the user's own: what it does is not known, though it is SGD.
class OwnSgd : public SGD {
  using SGD::SGD;
};

std::unique_ptr<Strategy> prepared(const std::vector<NamedTensor>& parameters) {
  auto strategy = make_data_parallel(alone(), {});
  strategy->prepare({parameters, {}});
  return strategy;
}

}  // namespace

TEST_CASE("a tied parameter that the optimizer lists twice moves once", "[strategies]") {
  const auto tied = leaf({3}, 1);
  const auto before = tied.detach().clone();
  SGD optimizer({tied, tied}, SGDOptions(0.5));
  auto strategy = prepared({{"a", tied}, {"b", tied}});
  strategy->attach(optimizer);
  CHECK(optimizer.param_groups()[0].params().size() == 1);
  (tied.sum() + tied.sum()).backward();
  strategy->step(optimizer);
  CHECK(all_equal({tied.detach()}, {before - 1}));
}

TEST_CASE("a parameter in two groups is refused by name", "[strategies]") {
  const auto a = leaf({3}, 1);
  auto strategy = prepared({{"layer.weight", a}});
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<at::Tensor>{a});
  groups.emplace_back(std::vector<at::Tensor>{a});
  SGD optimizer(groups, SGDOptions(0.5));
  CHECK_THROWS_MATCHES(
      strategy->attach(optimizer), ModelError,
      MessageMatches(ContainsSubstring("'layer.weight' stands in groups 0 and 1")));
}

TEST_CASE("a group that is added later is refused at the next step", "[strategies]") {
  const auto a = leaf({3}, 1);
  const auto b = leaf({3}, 2);
  SGD optimizer({a}, SGDOptions(0.5));
  auto strategy = prepared({{"a", a}, {"b", b}});
  strategy->attach(optimizer);
  optimizer.add_param_group(OptimizerParamGroup({b}));
  (a + b).sum().backward();
  CHECK_THROWS_MATCHES(
      strategy->step(optimizer), ModelError,
      MessageMatches(ContainsSubstring("parameter group 1 of the optimizer was added")));
}

TEST_CASE("parameters of other models are left alone", "[strategies]") {
  const auto ours = leaf({3}, 1);
  const auto other = leaf({3}, 2);
  const auto before = other.detach().clone();
  SGD optimizer({other, ours}, SGDOptions(0.5));
  auto strategy = prepared({{"ours", ours}});
  strategy->attach(optimizer);
  (ours + other).sum().backward();
  strategy->step(optimizer);
  CHECK(all_equal({other.detach()}, {before}));
}

TEST_CASE("types that are not known exactly step by themselves", "[strategies]") {
  const auto a = leaf({3}, 1);
  const auto before = a.detach().clone();
  OwnSgd optimizer({a}, SGDOptions(0.5));
  auto strategy = prepared({{"a", a}});
  strategy->attach(optimizer);
  CHECK_FALSE(strategy->fuses(optimizer));
  strategy->begin_micro_step(true);
  a.sum().backward();
  strategy->end_micro_step();
  CHECK_THROWS_AS(strategy->step(optimizer), UnsupportedError);
  REQUIRE(strategy->before_step(optimizer));
  optimizer.step();
  strategy->after_step(optimizer);
  strategy->zero_grad(&optimizer);
  CHECK(all_equal({a.detach()}, {before - 0.5}));
  CHECK(strategy->counters().steps == 1);
}

TEST_CASE("LBFGS steps with a closure", "[strategies]") {
  const auto a = leaf({3}, 1);
  torch::optim::LBFGS optimizer({a}, torch::optim::LBFGSOptions(0.5));
  auto strategy = prepared({{"a", a}});
  strategy->attach(optimizer);
  for (int step = 0; step < 3; ++step) {
    strategy->before_step(optimizer);
    optimizer.step([&] {
      strategy->zero_grad(&optimizer);
      auto loss = (a - 2).square().sum();
      loss.backward();
      return loss;
    });
    strategy->after_step(optimizer);
  }
  CHECK(a.detach().allclose(normal({3}, 1) * 0 + 2, 1e-3, 1e-3));
}

TEST_CASE("an optimizer that was not attached cannot step", "[strategies]") {
  const auto a = leaf({3}, 1);
  SGD optimizer({a}, SGDOptions(0.5));
  auto strategy = prepared({{"a", a}});
  CHECK_THROWS_AS(strategy->step(optimizer), ModelError);
  strategy->attach(optimizer);
  strategy->detach(optimizer);
  CHECK_THROWS_AS(strategy->step(optimizer), ModelError);
}
