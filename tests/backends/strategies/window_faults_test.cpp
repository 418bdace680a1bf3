#include <muster/error.hpp>

#include "backends/strategies/support/meshes.hpp"
#include "backends/strategies/support/toy.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <torch/csrc/api/include/torch/autograd.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/optim/optimizer.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace muster;
using namespace muster::test;

namespace {

const auto plain_sgd = make_sgd(0.1);

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

struct ThrowingHook : torch::autograd::PostAccumulateGradHook {
  void operator()(const at::Tensor&) override { throw std::runtime_error("the user's"); }
};

}  // namespace

TEST_CASE("a window that lost a rank stays lost: the same error from every member",
          "[strategies]") {
  const auto all = on_ranks(2, [](const MeshPtr& mesh) {
    std::vector<std::string> errors;
    Rig rig(mesh, plain_sgd, buckets(1));
    rig.micro_step(0, true);
    rig.step();
    rig.strategy->begin_micro_step(true);
    if (mesh->world().rank() == 1) {
      mesh->world().abort("the test ends here");
      return errors;
    }
    error_of([&] { rig.toy.loss(1).backward(); });
    errors.push_back(error_of([&] { rig.strategy->end_micro_step(); }));
    errors.push_back(error_of([&] { rig.strategy->step(*rig.optimizer); }));
    errors.push_back(error_of([&] { rig.strategy->clip_grad_norm(1, 2, {}); }));
    errors.push_back(error_of([&] { rig.strategy->begin_micro_step(true); }));
    return errors;
  });
  REQUIRE(all[0].size() == 4);
  CHECK(all[0][0].find("gradients") != std::string::npos);
  for (const auto& error : all[0]) CHECK(error == all[0][0]);
}

TEST_CASE("buffers: a rank that leaves before its forward sends them all the same",
          "[strategies]") {
  const auto all = on_ranks(2, [](const MeshPtr& mesh) {
    Rig rig(mesh, plain_sgd);
    const int rank = mesh->world().rank();
    for (int step = 0; step < 4; ++step) {
      rig.strategy->begin_micro_step(true);
      if (step == 2 * rank) continue;
      rig.strategy->begin_forward();
      rig.toy.loss(static_cast<std::uint64_t>(step)).backward();
      rig.strategy->end_micro_step();
      rig.step();
    }
    rig.toy.buffer.fill_(rank + 1);
    // Without a scope: those of a bare backward go with the step.
    rig.toy.loss(7).backward();
    rig.step();
    auto result = copies(rig.toy.parameters());
    result.push_back(rig.toy.buffer.clone());
    return result;
  });
  CHECK(all_equal(all[0], all[1]));
  CHECK(all_equal({all[0].back()}, {all[0].back().new_ones({3})}));
}

TEST_CASE("torch::autograd::grad on one rank changes nothing of the window", "[strategies]") {
  const bool accumulating = GENERATE(false, true);
  struct Result {
    std::vector<at::Tensor> before, after, weights;
    std::uint64_t reductions = 0;
  };
  const auto all = on_ranks(2, [&](const MeshPtr& mesh) {
    Rig rig(mesh, plain_sgd);
    Result result;
    for (std::uint64_t step = 0; step < 3; ++step) {
      if (accumulating) rig.micro_step(step, false);
      rig.micro_step(step + 10, true);
      result.before = gradients_of(rig.toy.parameters());
      if (mesh->world().rank() == 0) {
        torch::autograd::grad({rig.toy.loss(step)}, {rig.toy.first, rig.toy.second});
      }
      result.after = gradients_of(rig.toy.parameters());
      rig.step();
    }
    result.weights = copies(rig.toy.parameters());
    result.reductions = rig.strategy->counters().reductions;
    return result;
  });
  for (const auto& rank : all) {
    CHECK(all_equal(rank.after, rank.before));
    CHECK(all_equal(rank.weights, all[0].weights));
    CHECK(rank.reductions == all[1].reductions);
  }
}

TEST_CASE("backward with chosen inputs counts as a backward of those", "[strategies]") {
  Rig rig(alone(), plain_sgd);
  rig.strategy->begin_micro_step(true);
  torch::autograd::backward({rig.toy.loss(0)}, {}, std::nullopt, false, {rig.toy.first});
  rig.strategy->end_micro_step();
  CHECK(rig.toy.first.grad().defined());
  CHECK_FALSE(rig.toy.second.grad().defined());
}

TEST_CASE("a user's hook that throws leaves its rank out of the mean", "[strategies]") {
  const auto all = on_ranks(2, [](const MeshPtr& mesh) {
    const auto weight = leaf({3}, 1);
    const auto optimizer = plain_sgd({weight});
    const auto strategy = make_data_parallel(mesh, {});
    const bool fails = mesh->world().rank() == 1;
    if (fails) {
      torch::autograd::impl::set_post_acc_grad_hooks(weight, std::make_unique<ThrowingHook>());
    }
    strategy->prepare({{{"weight", weight}}, {}});
    strategy->attach(*optimizer);
    strategy->begin_micro_step(true);
    error_of([&] { (weight.sum() * 4).backward(); });
    strategy->end_micro_step();
    return weight.grad().clone();
  });
  for (const auto& rank : all) CHECK(all_equal({rank}, {rank.new_full({3}, 4)}));
}

TEST_CASE("a view of the window in another form is taken by its values", "[strategies]") {
  const auto weight = leaf({3, 3}, 1);
  const auto optimizer = plain_sgd({weight});
  const auto strategy = make_data_parallel(alone(), {});
  strategy->prepare({{{"weight", weight}}, {}});
  strategy->attach(*optimizer);
  strategy->begin_micro_step(true);
  (weight * normal({3, 3}, 2)).sum().backward();
  strategy->end_micro_step();
  const auto expected = weight.detach() - 0.1 * normal({3, 3}, 2).t();
  weight.mutable_grad() = weight.grad().t();
  strategy->step(*optimizer);
  CHECK(all_close({weight.detach()}, {expected}, 1e-6));

  strategy->zero_grad(nullptr);
  (weight * normal({3, 3}, 2)).sum().backward();
  strategy->synchronise();
  weight.mutable_grad() = weight.grad().narrow(0, 0, 2);
  CHECK(error_of([&] { strategy->step(*optimizer); }).find("has shape [2, 3]") !=
        std::string::npos);
}

TEST_CASE("a parameter that was resized in place is an error by name at the step", "[strategies]") {
  Rig rig(alone(), plain_sgd);
  rig.micro_step(0, true);
  rig.toy.first.unsafeGetTensorImpl()->set_sizes_contiguous({rig.toy.first.numel()});
  CHECK(error_of([&] {
          rig.step();
        }).starts_with("parameter 'first.weight' changed after prepare: it has another shape"));
}
