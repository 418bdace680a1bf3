#include "strategies/gradient_norm.hpp"

#include <muster/error.hpp>

#include "backends/strategies/support/meshes.hpp"
#include "backends/strategies/support/toy.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <cmath>
#include <limits>

using namespace muster;
using namespace muster::test;
using Catch::Matchers::WithinRel;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Rig& with_gradients(Rig& rig) {
  rig.micro_step(7, true);
  return rig;
}

double plain_norm(const std::vector<at::Tensor>& gradients) {
  double squares = 0;
  for (const auto& gradient : gradients) {
    if (gradient.defined()) squares += gradient.to(at::kDouble).square().sum().item<double>();
  }
  return std::sqrt(squares);
}

}  // namespace

TEST_CASE("the norm is that of all gradients, and clipping scales them to it", "[strategies]") {
  Rig rig(alone(), make_sgd(0.1));
  with_gradients(rig);
  const auto before = gradients_of(rig.toy.parameters());
  const double expected = plain_norm(before);
  const double norm = rig.strategy->clip_grad_norm(expected / 4, 2, {});
  CHECK(norm == static_cast<double>(static_cast<float>(expected)));
  const auto after = gradients_of(rig.toy.parameters());
  CHECK_THAT(plain_norm(after), WithinRel(expected / 4, 1e-5));
  // Far below the limit nothing changes.
  CHECK_THAT(rig.strategy->clip_grad_norm(1e6, 2, {}), WithinRel(expected / 4, 1e-5));
  CHECK(all_equal(gradients_of(rig.toy.parameters()), after));
}

TEST_CASE("the infinity norm is the largest", "[strategies]") {
  Rig rig(alone(), make_sgd(0.1));
  with_gradients(rig);
  double largest = 0;
  for (const auto& gradient : gradients_of(rig.toy.parameters())) {
    if (gradient.numel() > 0) largest = std::max(largest, gradient.abs().max().item<double>());
  }
  CHECK(rig.strategy->clip_grad_norm(largest / 2, infinity, {}) == largest);
  CHECK_THAT(rig.strategy->clip_grad_norm(1e6, infinity, {}), WithinRel(largest / 2, 1e-5));
}

TEST_CASE("a subset is clipped alone", "[strategies]") {
  Rig rig(alone(), make_sgd(0.1));
  with_gradients(rig);
  const auto before = gradients_of(rig.toy.parameters());
  const double norm = rig.strategy->clip_grad_norm(1e-3, 2, {rig.toy.first, rig.toy.first});
  CHECK_THAT(norm, WithinRel(plain_norm({before[0]}), 1e-6));
  CHECK_THAT(plain_norm({rig.toy.first.grad()}), WithinRel(1e-3, 1e-3));
  CHECK(all_equal({rig.toy.second.grad()}, {before[4]}));
}

TEST_CASE("a norm that is not finite spreads as in PyTorch", "[strategies]") {
  Rig rig(alone(), make_sgd(0.1));
  with_gradients(rig);
  rig.toy.first.mutable_grad()[0][0] = std::nan("");
  CHECK(std::isnan(rig.strategy->clip_grad_norm(1, 2, {})));
  CHECK(rig.toy.second_bias.grad().isnan().all().item<bool>());
}

TEST_CASE("values are clipped at both ends", "[strategies]") {
  Rig rig(alone(), make_sgd(0.1));
  with_gradients(rig);
  auto expected = gradients_of(rig.toy.parameters());
  for (auto& gradient : expected) gradient.clamp_(-0.01, 0.01);
  rig.strategy->clip_grad_value(0.01);
  CHECK(all_equal(gradients_of(rig.toy.parameters()), expected));
}

TEST_CASE("clipping refuses what it does not know", "[strategies]") {
  Rig rig(alone(), make_sgd(0.1));
  with_gradients(rig);
  CHECK_THROWS_AS(rig.strategy->clip_grad_norm(1, 3, {}), ConfigError);
  CHECK_THROWS_AS(rig.strategy->clip_grad_norm(1, 2, {leaf({2}, 1)}), ModelError);
}

TEST_CASE("the norm does not depend on the cut into buckets or ranks", "[strategies]") {
  const auto norms = [](const MeshPtr& mesh, std::int64_t bytes) {
    Rig rig(mesh, make_sgd(0.1), buckets(bytes));
    std::vector<double> result;
    for (std::uint64_t batch = 0; batch < 20; ++batch) {
      rig.micro_step(batch, true);
      result.push_back(rig.strategy->clip_grad_norm(1e9, 2, {}));
      rig.strategy->discard_gradients();
    }
    return result;
  };
  const auto expected = norms(alone(), 1);
  for (const std::int64_t bytes : {100, 1000, 1 << 20}) CHECK(norms(alone(), bytes) == expected);
  // All ranks see the same batch: the mean is that batch's gradient.
  for (const auto& rank : on_ranks(2, [&](const MeshPtr& mesh) { return norms(mesh, 500); })) {
    CHECK(rank == expected);
  }
}
