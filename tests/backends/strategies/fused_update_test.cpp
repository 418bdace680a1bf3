#include "strategies/fused_update.hpp"

#include "backends/strategies/support/meshes.hpp"
#include "backends/strategies/support/toy.hpp"
#include "strategies/window.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>
#include <torch/serialize.h>

#include <sstream>

using namespace muster;
using namespace muster::test;
using torch::optim::AdamWParamState;

namespace {

template <class Optimizer, class Options>
MakeOptimizer make(Options options) {
  return [options](const std::vector<at::Tensor>& parameters) {
    return std::make_unique<Optimizer>(parameters, options);
  };
}

std::vector<MakeOptimizer> known() {
  using namespace torch::optim;
  return {
      make<SGD>(SGDOptions(0.003)),
      make<SGD>(SGDOptions(0.003).momentum(0.9).dampening(0.1).weight_decay(0.02)),
      make<SGD>(SGDOptions(0.003).momentum(0.9).nesterov(true)),
      make<Adam>(AdamOptions(0.01).weight_decay(0.02)),
      make<Adam>(AdamOptions(0.01).amsgrad(true)),
      make<AdamW>(AdamWOptions(0.01).weight_decay(0.1)),
      make<AdamW>(AdamWOptions(0.01).amsgrad(true).betas({0.8, 0.95}).eps(1e-6)),
      make<Adagrad>(
          AdagradOptions(0.05).lr_decay(0.01).weight_decay(0.02).initial_accumulator_value(0.1)),
      make<RMSprop>(RMSpropOptions(0.01).weight_decay(0.02)),
      make<RMSprop>(RMSpropOptions(0.01).momentum(0.9).centered(true))};
}

/// LibTorch's own loop on the same data.
std::vector<at::Tensor> by_hand(const MakeOptimizer& make_optimizer, std::uint64_t steps) {
  Toy toy;
  auto optimizer = make_optimizer(toy.parameters());
  for (std::uint64_t step = 0; step < steps; ++step) {
    optimizer->zero_grad();
    toy.loss(step).backward();
    optimizer->step();
  }
  return copies(toy.parameters());
}

/// `direct`: the user's object steps by itself.
void train(Rig& rig, std::uint64_t first, std::uint64_t last, bool direct = false) {
  for (auto step = first; step < last; ++step) {
    rig.micro_step(step, true);
    if (direct) {
      rig.strategy->before_step(*rig.optimizer);
      rig.optimizer->step();
      rig.strategy->after_step(*rig.optimizer);
    } else {
      rig.strategy->step(*rig.optimizer);
    }
    rig.strategy->zero_grad(rig.optimizer.get());
  }
}

const AdamWParamState& adamw_state(torch::optim::Optimizer& optimizer,
                                   const at::Tensor& parameter) {
  return static_cast<const AdamWParamState&>(
      *optimizer.state().at(parameter.unsafeGetTensorImpl()));
}

}  // namespace

TEST_CASE("fused updates are LibTorch's own within rounding", "[strategies]") {
  const auto make_optimizer = GENERATE(from_range(known()));
  Rig rig(alone(), make_optimizer);
  CHECK(rig.strategy->fuses(*rig.optimizer));
  train(rig, 0, 20);
  CHECK(all_close(copies(rig.toy.parameters()), by_hand(make_optimizer, 20), 2e-5));
}

TEST_CASE("the user's own step goes on where the fused one was, and back", "[strategies]") {
  const auto make_optimizer = GENERATE(from_range(known()));
  Rig rig(alone(), make_optimizer);
  train(rig, 0, 5);
  train(rig, 5, 10, /*direct=*/true);
  train(rig, 10, 15);
  CHECK(all_close(copies(rig.toy.parameters()), by_hand(make_optimizer, 15), 2e-5));
}

TEST_CASE("state is the user's optimizer's, as windows over flat memory", "[strategies]") {
  Rig rig(alone(), make_adamw(0.01));
  train(rig, 0, 3);
  CHECK(rig.optimizer->state().size() == 6);
  const auto& state = adamw_state(*rig.optimizer, rig.toy.first);
  CHECK(state.step() == 3);
  CHECK(state.exp_avg().sizes() == rig.toy.first.sizes());
  CHECK_FALSE(state.exp_avg().is_view());
  const auto storage = storage_of(state.exp_avg());
  train(rig, 3, 4);
  CHECK(storage_of(adamw_state(*rig.optimizer, rig.toy.first).exp_avg()) == storage);
  CHECK_FALSE(state.max_exp_avg_sq().defined());
}

TEST_CASE("torch::save and torch::load of the optimizer carry the state", "[strategies]") {
  Rig saved(alone(), make_adamw(0.01));
  train(saved, 0, 5);
  std::stringstream stream;
  {
    torch::serialize::OutputArchive archive;
    saved.optimizer->save(archive);
    archive.save_to(stream);
  }
  Rig loaded(alone(), make_adamw(0.01));
  train(loaded, 0, 2);
  const auto weights = copies(saved.toy.parameters());
  const auto targets = loaded.toy.parameters();
  for (std::size_t index = 0; index < weights.size(); ++index)
    targets[index].detach().copy_(weights[index]);
  torch::serialize::InputArchive archive;
  archive.load_from(stream);
  loaded.optimizer->load(archive);
  train(saved, 5, 9);
  train(loaded, 5, 9);
  CHECK(all_equal(copies(loaded.toy.parameters()), copies(saved.toy.parameters())));
  CHECK(adamw_state(*loaded.optimizer, loaded.toy.first).step() == 9);
}

TEST_CASE("options are read at each step, also for state they bring", "[strategies]") {
  const auto change = [](torch::optim::Optimizer& optimizer) {
    auto& options = static_cast<torch::optim::SGDOptions&>(optimizer.param_groups()[0].options());
    options.lr(0.001).momentum(0.9);
  };
  const auto make_optimizer = make<torch::optim::SGD>(torch::optim::SGDOptions(0.003));
  Rig rig(alone(), make_optimizer);
  Toy toy;
  auto optimizer = make_optimizer(toy.parameters());
  for (std::uint64_t step = 0; step < 10; ++step) {
    if (step == 4) {
      change(*optimizer);
      change(*rig.optimizer);
    }
    train(rig, step, step + 1);
    optimizer->zero_grad();
    toy.loss(step).backward();
    optimizer->step();
  }
  CHECK(all_close(copies(rig.toy.parameters()), copies(toy.parameters()), 1e-5));
}

TEST_CASE("groups keep their options, and parameters their own number of steps", "[strategies]") {
  using torch::optim::AdamWOptions;
  using torch::optim::OptimizerParamGroup;
  const MakeOptimizer make_optimizer = [](const std::vector<at::Tensor>& p) {
    std::vector<OptimizerParamGroup> groups;
    groups.emplace_back(std::vector<at::Tensor>{p[0], p[4]}, std::make_unique<AdamWOptions>(0.01));
    groups.emplace_back(std::vector<at::Tensor>{p[5], p[1], p[2], p[3]},
                        std::make_unique<AdamWOptions>(AdamWOptions(0.02).weight_decay(0)));
    return std::make_unique<torch::optim::AdamW>(std::move(groups));
  };
  // Every third step only the scale has a gradient.
  const auto loss = [](const Toy& toy, std::uint64_t step) {
    return step % 3 == 2 ? toy.scale.square().sum() : toy.loss(step);
  };
  Rig rig(alone(), make_optimizer);
  Toy toy;
  auto optimizer = make_optimizer(toy.parameters());
  for (std::uint64_t step = 0; step < 12; ++step) {
    rig.strategy->begin_micro_step(true);
    loss(rig.toy, step).backward();
    rig.strategy->end_micro_step();
    rig.step();
    optimizer->zero_grad();
    loss(toy, step).backward();
    optimizer->step();
  }
  CHECK(all_close(copies(rig.toy.parameters()), copies(toy.parameters()), 1e-5));
  CHECK(adamw_state(*rig.optimizer, rig.toy.scale).step() == 12);
  CHECK(adamw_state(*rig.optimizer, rig.toy.first).step() == 8);
}

TEST_CASE("parameters of 16 bits: fp32 gradients, updates as LibTorch's own", "[strategies]") {
  const auto make_optimizer = GENERATE(from_range(known()));
  const auto dtype = GENERATE(at::kBFloat16, at::kHalf);
  // More elements than a vector, so that no kernel sees a tail only.
  const auto weight = normal({200}, 1).to(dtype).requires_grad_();
  const auto reference = weight.detach().clone().requires_grad_();
  const auto own = make_optimizer({reference});
  const auto optimizer = make_optimizer({weight});
  auto strategy = make_data_parallel(alone(), {});
  strategy->prepare({{{"weight", weight}}, {}});
  strategy->attach(*optimizer);
  for (int step = 0; step < 4; ++step) {
    for (int micro = 0; micro < 3; ++micro) {
      strategy->begin_micro_step(micro == 2);
      (weight * (micro + 1)).sum().backward();
      strategy->end_micro_step();
      CHECK(weight.grad().scalar_type() == at::kFloat);
    }
    CHECK(weight.grad().eq(2).all().item<bool>());
    strategy->step(*optimizer);
    strategy->zero_grad(optimizer.get());
    own->zero_grad();
    (reference * 2).sum().backward();
    own->step();
  }
  const auto moved = weight.detach().to(at::kFloat) - normal({200}, 1).to(dtype).to(at::kFloat);
  CHECK(moved.abs().mean().item<double>() > 0.005);
  CHECK(all_close({weight.detach().to(at::kFloat)}, {reference.detach().to(at::kFloat)}, 2e-2));
}
