#include "backends/strategies/support/meshes.hpp"
#include "backends/strategies/support/toy.hpp"

#include <ATen/Parallel.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <map>

using namespace muster;
using namespace muster::test;

namespace {

constexpr int steps = 25;

/// `micro_steps` a step; micro-step j of rank r is global micro-batch j * ranks + r of the step.
Outcome train(const MeshPtr& mesh, const MakeOptimizer& make, int micro_steps,
              StrategyOptions options) {
  at::set_num_threads(1);
  Rig rig(mesh, make, std::move(options));
  const auto ranks = static_cast<std::uint64_t>(mesh->world().size());
  const auto rank = static_cast<std::uint64_t>(mesh->world().rank());
  const auto window = static_cast<std::uint64_t>(micro_steps) * ranks;
  Outcome outcome;
  for (std::uint64_t step = 0; step < steps; ++step) {
    for (int micro = 0; micro < micro_steps; ++micro) {
      const auto index = step * window + static_cast<std::uint64_t>(micro) * ranks + rank;
      outcome.losses.push_back(rig.micro_step(index, micro + 1 == micro_steps));
    }
    outcome.gradients = gradients_of(rig.toy.parameters());
    outcome.norms.push_back(rig.strategy->clip_grad_norm(0.5, 2, {}));
    rig.step();
  }
  outcome.weights = copies(rig.toy.parameters());
  outcome.counters = rig.strategy->counters();
  return outcome;
}

/// Losses of all ranks in the order of global micro-batches, for one micro-step a step.
std::vector<double> in_global_order(const std::vector<Outcome>& ranks) {
  std::vector<double> losses;
  for (std::size_t step = 0; step < steps; ++step) {
    for (const auto& rank : ranks) losses.push_back(rank.losses[step]);
  }
  return losses;
}

}  // namespace

TEST_CASE("N ranks with one micro-step equal one process with N, bit for bit", "[strategies]") {
  const int size = GENERATE(2, 3, 4);
  const std::int64_t bytes = GENERATE(1, 1024, 25 << 20);
  const auto make = GENERATE(make_sgd(0.05), make_sgd(0.05, 0.9, 0.01, true), make_adam(0.01, true),
                             make_adamw(0.01));
  const auto one = train(alone(), make, size, {});
  const auto all =
      on_ranks(size, [&](const MeshPtr& mesh) { return train(mesh, make, 1, buckets(bytes)); });
  CHECK(in_global_order(all) == one.losses);
  for (const auto& rank : all) {
    CHECK(all_equal(rank.gradients, one.gradients));
    CHECK(all_equal(rank.weights, one.weights));
    CHECK(rank.norms == one.norms);
  }
}

TEST_CASE("bucket sizes do not change a bit, with accumulation too", "[strategies]") {
  const auto train_with = [](std::int64_t bytes) {
    return on_ranks(
        2, [&](const MeshPtr& mesh) { return train(mesh, make_adamw(0.01), 3, buckets(bytes)); });
  };
  const auto expected = train_with(25 << 20);
  for (const std::int64_t bytes : {1, 200, 1024}) {
    const auto all = train_with(bytes);
    CHECK(all[0].losses == expected[0].losses);
    CHECK(all[0].norms == expected[0].norms);
    CHECK(all_equal(all[0].weights, expected[0].weights));
    CHECK(all_equal(all[1].weights, expected[0].weights));
  }
}

TEST_CASE("reductions: one a bucket and step, none on micro-steps that only accumulate",
          "[strategies]") {
  const auto all =
      on_ranks(2, [](const MeshPtr& mesh) { return train(mesh, make_sgd(0.01), 4, buckets(1)); });
  // Six parameters; the empty one is in the bucket of the next.
  const std::uint64_t count = all[0].counters.reductions / steps;
  CHECK(count >= 5);
  CHECK(all[0].counters.reductions == count * steps);
  // The first window is watched; then all but the last, which carries the report, start in
  // backward.
  CHECK(all[0].counters.overlapped == (count - 1) * (steps - 1));
  CHECK(all[0].counters.late == 0);
  CHECK(all[0].counters.steps == steps);
}
