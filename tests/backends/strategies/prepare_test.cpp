#include <muster/error.hpp>

#include "backends/strategies/support/meshes.hpp"
#include "backends/strategies/support/toy.hpp"

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/embedding.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <torch/optim/optimizer.h>

using namespace muster;
using namespace muster::test;

TEST_CASE("after prepare all ranks have rank 0's parameters, frozen ones and buffers",
          "[strategies]") {
  const auto all = on_ranks(3, [](const MeshPtr& mesh) {
    const auto seed = static_cast<std::uint64_t>(mesh->world().rank()) * 100;
    Toy toy(seed);
    const auto frozen = normal({5}, seed + 50);
    const auto counter = normal({2}, seed + 60).mul(100).to(at::kLong);
    auto parts = toy.parts();
    parts.parameters.push_back({"frozen", frozen});
    parts.parameters.push_back({"counter", counter});
    make_data_parallel(mesh, buckets(300))->prepare(parts);
    auto tensors = toy.parameters();
    tensors.insert(tensors.end(), {frozen, counter, toy.buffer});
    return copies(tensors);
  });
  Toy first(0);
  CHECK(all_equal({all[2][0], all[2][8]}, {first.first.detach(), first.buffer}));
  CHECK(all_equal(all[1], all[0]));
  CHECK(all_equal(all[2], all[0]));
}

TEST_CASE("nothing to train, and no parameters, are legal; buffers are still sent",
          "[strategies]") {
  const bool frozen = GENERATE(false, true);
  const auto all = on_ranks(2, [&](const MeshPtr& mesh) {
    const auto rank = static_cast<std::uint64_t>(mesh->world().rank());
    auto buffer = normal({3}, rank);
    auto strategy = make_data_parallel(mesh, {});
    std::vector<NamedTensor> parameters;
    if (frozen) parameters.push_back({"w", normal({3}, rank + 5)});
    strategy->prepare({parameters, [&] { return std::vector<NamedTensor>{{"buffer", buffer}}; }});
    auto optimizer = make_sgd(0.1)({});
    strategy->attach(*optimizer);
    for (int step = 0; step < 3; ++step) {
      buffer = buffer + static_cast<double>(rank);
      strategy->begin_forward();
      strategy->begin_micro_step(true);
      strategy->end_micro_step();
      strategy->clip_grad_norm(1, 2, {});
      strategy->step(*optimizer);
      strategy->zero_grad(nullptr);
    }
    auto result = std::vector<at::Tensor>{buffer};
    for (const auto& parameter : parameters) result.push_back(parameter.tensor);
    return result;
  });
  CHECK(all_equal(all[1], all[0]));
}

TEST_CASE("buffers that are assigned anew get rank 0's, once a window", "[strategies]") {
  struct Result {
    std::vector<at::Tensor> buffers;
    std::uint64_t operations;
  };
  const auto all = on_ranks(2, [](const MeshPtr& mesh) {
    Rig rig(mesh, make_sgd(0.1));
    const double rank = mesh->world().rank();
    Result result;
    rig.micro_step(0, true);
    rig.step();
    for (std::uint64_t step = 1; step < 4; ++step) {
      rig.toy.buffer = rig.toy.buffer + (rank + 1);
      const auto before = mesh->world().operations();
      rig.strategy->begin_forward();
      rig.strategy->begin_forward();
      result.operations = mesh->world().operations() - before;
      result.buffers.push_back(rig.toy.buffer.clone());
      rig.micro_step(step, true);
      rig.step();
    }
    return result;
  });
  CHECK(all_equal(all[1].buffers, all[0].buffers));
  CHECK(all[1].operations == 1);
}

TEST_CASE("two forwards and one backward through batch norm", "[strategies]") {
  const auto all = on_ranks(2, [](const MeshPtr& mesh) {
    const auto rank = static_cast<std::uint64_t>(mesh->world().rank());
    const auto weight = leaf({4}, 1);
    const auto bias = leaf({4}, 2);
    const auto mean = normal({4}, 3 + rank);
    const auto variance = normal({4}, 5 + rank).abs();
    auto strategy = make_data_parallel(mesh, {});
    strategy->prepare({{{"weight", weight}, {"bias", bias}}, [&] {
                         return std::vector<NamedTensor>{{"mean", mean}, {"variance", variance}};
                       }});
    const auto forward = [&](std::uint64_t seed, bool training) {
      strategy->begin_forward();
      return at::batch_norm(normal({8, 4}, seed), weight, bias, mean, variance, training, 0.1, 1e-5,
                            false);
    };
    // Evaluation mode saves the running statistics themselves for backward.
    for (const bool training : {true, false}) {
      strategy->begin_micro_step(true);
      const auto fake = forward(10 + rank, training);
      const auto real = forward(20 + rank, training);
      (fake * real).sum().backward();
      strategy->end_micro_step();
      strategy->discard_gradients();
    }
    return 0;
  });
  CHECK(all.size() == 2);
}

TEST_CASE("frozen parameters: not moved, no state, no traffic, in the layouts", "[strategies]") {
  struct Result {
    bool equal;
    std::size_t states;
    std::vector<Layout> layouts;
    std::uint64_t reductions;
  };
  const auto all = on_ranks(2, [](const MeshPtr& mesh) {
    const auto frozen = normal({1000}, 1);
    const auto before = frozen.clone();
    const auto trained = leaf({2, 3}, 2);
    auto strategy = make_data_parallel(mesh, buckets(1));
    auto optimizer = make_adamw(0.1)({frozen, trained});
    strategy->prepare({{{"frozen", frozen}, {"trained", trained}}, {}});
    strategy->attach(*optimizer);
    for (int step = 0; step < 5; ++step) {
      strategy->begin_micro_step(true);
      (frozen.sum() * trained.sum()).backward();
      strategy->end_micro_step();
      strategy->step(*optimizer);
      strategy->zero_grad(nullptr);
    }
    return Result{frozen.equal(before), optimizer->state().size(), strategy->layouts(),
                  strategy->counters().reductions};
  });
  for (int rank = 0; rank < 2; ++rank) {
    const auto& result = all[static_cast<std::size_t>(rank)];
    CHECK(result.equal);
    CHECK(result.states == 1);
    CHECK(result.reductions == 5);
    REQUIRE(result.layouts.size() == 2);
    CHECK(result.layouts[0].name == "frozen");
    CHECK(result.layouts[1].shape == std::vector<std::int64_t>{2, 3});
    CHECK(result.layouts[1].replica == rank);
    CHECK(result.layouts[1].memory_order.empty());
  }
}

TEST_CASE("layouts name the memory order of dense parameters", "[strategies]") {
  auto weight = normal({4, 3, 2, 2}, 1).contiguous(at::MemoryFormat::ChannelsLast).requires_grad_();
  auto strategy = make_data_parallel(alone(), {});
  strategy->prepare({{{"conv.weight", weight}}, {}});
  CHECK(strategy->layouts()[0].memory_order == std::vector<int>{0, 2, 3, 1});
}

TEST_CASE("sparse gradients are made dense", "[strategies]") {
  const auto all = on_ranks(2, [](const MeshPtr& mesh) {
    const auto rank = mesh->world().rank();
    const auto table = leaf({5, 2}, 1);
    auto strategy = make_data_parallel(mesh, {});
    strategy->prepare({{{"table", table}}, {}});
    for (int micro = 0; micro < 2; ++micro) {
      strategy->begin_micro_step(micro == 1);
      const auto rows = normal({2}, 1).mul(0).add(rank + micro).to(at::kLong);
      at::embedding(table, rows, -1, false, /*sparse=*/true).sum().backward();
      strategy->end_micro_step();
    }
    return std::vector<at::Tensor>{table.grad()};
  });
  const auto expected = normal({5, 2}, 1).mul(0);
  expected[0] += 0.5;
  expected[1] += 1;
  expected[2] += 0.5;
  for (const auto& rank : all) CHECK(all_equal(rank, {expected}));
}

TEST_CASE("tied weights: one parameter, the sum of both uses", "[strategies]") {
  const auto tied = leaf({3, 3}, 1);
  auto strategy = make_data_parallel(alone(), {});
  strategy->prepare({{{"embedding", tied}, {"output", tied}}, {}});
  const auto input = normal({2, 3}, 2);
  strategy->begin_micro_step(true);
  input.matmul(tied).matmul(tied.t()).sum().backward();
  strategy->end_micro_step();
  const auto copy = tied.detach().clone().requires_grad_();
  input.matmul(copy).matmul(copy.t()).sum().backward();
  CHECK(all_equal({tied.grad()}, {copy.grad()}));
  CHECK(strategy->layouts().size() == 1);
}

TEST_CASE("a parameter converted after prepare is an error by name at the step", "[strategies]") {
  Rig rig(alone(), make_sgd(0.1));
  rig.micro_step(0, true);
  rig.step();
  for (const auto& parameter : rig.toy.parameters())
    parameter.set_data(parameter.detach().to(at::kDouble));
  try {
    rig.toy.first.sum().backward();
    rig.strategy->step(*rig.optimizer);
    FAIL("no error");
  } catch (const ModelError& error) {
    CHECK(std::string(error.what())
              .starts_with("parameter 'first.weight' changed after prepare: its dtype was Float "
                           "and is Double"));
  }
}

TEST_CASE("the strategy leaves a model that goes on alone", "[strategies]") {
  Toy toy;
  {
    auto strategy = make_data_parallel(alone(), {});
    strategy->prepare(toy.parts());
    strategy->begin_micro_step(true);
    toy.loss(0).backward();
    strategy->end_micro_step();
  }
  for (const auto& parameter : toy.parameters()) parameter.mutable_grad().reset();
  toy.loss(0).backward();
  Toy other;
  other.loss(0).backward();
  CHECK(all_equal(gradients_of(toy.parameters()), gradients_of(other.parameters())));
}

TEST_CASE("a rank lost in the middle of a window is a communication error on the others",
          "[strategies]") {
  const auto all = on_ranks(2, [](const MeshPtr& mesh) -> std::string {
    Rig rig(mesh, make_sgd(0.1), buckets(1));
    rig.micro_step(0, true);
    rig.step();
    rig.strategy->begin_micro_step(true);
    if (mesh->world().rank() == 1) {
      mesh->world().abort("the test ends here");
      return "gone";
    }
    try {
      // Inside backward, where the first buckets are sent.
      rig.toy.loss(1).backward();
      rig.strategy->end_micro_step();
    } catch (const CommunicationError& error) {
      return error.what();
    }
    return "no error";
  });
  CHECK(all[0] != "no error");
  INFO(all[0]);
  CHECK(all[0].find("gradients") != std::string::npos);
}
