// One process: optimizers in groups, and clipping.

#include <muster/accelerator.hpp>
#include <muster/error.hpp>
#include <muster/schedules.hpp>
#include <muster/split_parameters.hpp>

#include "nets.hpp"

#include <catch2/catch_test_macros.hpp>
#include <torch/torch.h>

#include <cmath>
#include <memory>

using muster::Accelerator;
using muster::test::copies;
using muster::test::differing;
using muster::test::Mlp;

namespace {

std::shared_ptr<Mlp> seeded() {
  torch::manual_seed(3);
  return std::make_shared<Mlp>();
}

torch::Tensor batch(int index) {
  const auto generator =
      at::make_generator<at::CPUGeneratorImpl>(static_cast<std::uint64_t>(index));
  return torch::randn({4, 8}, generator);
}

/// Weights with decay, the rest without.
torch::optim::AdamW grouped(const Mlp& module) {
  auto split = muster::split_for_decay(module);
  using Options = torch::optim::AdamWOptions;
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(split.chosen, std::make_unique<Options>(Options(0.02).weight_decay(0.1)));
  groups.emplace_back(split.others, std::make_unique<Options>(Options(0.01).weight_decay(0)));
  return torch::optim::AdamW(groups, Options(0.02));
}

}  // namespace

TEST_CASE("parameters in two lists, a tied one once") {
  auto module = seeded();
  const auto decay = muster::split_for_decay(*module);
  CHECK(decay.chosen.size() == 2);
  CHECK(decay.others.size() == 2);
  for (const auto& bias : decay.others) CHECK(bias.dim() == 1);
  auto tied = std::make_shared<Mlp>();
  tied->register_parameter("again", tied->output->weight);
  const auto split = muster::split_parameters(
      *tied,
      [](const std::string& name, const auto& /*tensor*/) { return name.starts_with("output."); });
  CHECK(split.chosen.size() + split.others.size() == 4);
}

TEST_CASE("clipping in every micro-step, groups and a schedule equal a loop by hand") {
  constexpr int micro_steps = 3, steps = 5;
  const muster::WarmupLR schedule{.num_warmup_steps = 2,
                                  .then = muster::CosineLR{.total_iters = 3}};
  auto reference = seeded();
  auto by_hand = grouped(*reference);
  for (int step = 0; step < steps; ++step) {
    for (std::size_t group = 0; group < 2; ++group) {
      const auto lr =
          muster::Schedule(schedule)->rates({step, group}, {group == 0 ? 0.02 : 0.01, {}});
      by_hand.param_groups()[group].options().set_lr(lr.lr);
    }
    by_hand.zero_grad();
    for (int micro = 0; micro < micro_steps; ++micro) {
      (reference->forward(batch(step * micro_steps + micro)).square().mean() / micro_steps)
          .backward();
    }
    torch::nn::utils::clip_grad_value_(reference->parameters(), 0.05);
    torch::nn::utils::clip_grad_norm_(reference->parameters(), 0.1);
    by_hand.step();
  }

  Accelerator accelerator({.gradient_accumulation_steps = micro_steps});
  auto module = seeded();
  auto [model, optimizer, scheduler] = accelerator.prepare(module, grouped(*module), schedule);
  int clipped = 0;
  for (int micro = 0; micro < micro_steps * steps; ++micro) {
    const auto scope = accelerator.accumulate(model);
    accelerator.backward(model(batch(micro)).square().mean());
    accelerator.clip_grad_value(model, 0.05);
    if (!std::isnan(accelerator.clip_grad_norm(model, 0.1))) ++clipped;
    optimizer.step();
    scheduler.step();
    optimizer.zero_grad();
  }
  CHECK(clipped == steps);
  CHECK(scheduler.steps() == steps);
  CHECK(differing(module->parameters(), reference->parameters(), 1e-5).empty());
}

TEST_CASE("some parameters are clipped alone") {
  Accelerator accelerator;
  auto module = seeded();
  auto model = accelerator.prepare(module);
  accelerator.backward(model(batch(0)).sum());
  const auto hidden = module->hidden->parameters();
  const auto norm_of = [](const std::vector<torch::Tensor>& parameters) {
    double squares = 0;
    for (const auto& p : parameters) squares += p.grad().square().sum().item<double>();
    return std::sqrt(squares);
  };
  const auto before = norm_of(hidden), other = norm_of(module->output->parameters());
  CHECK(std::abs(accelerator.clip_grad_norm(model, hidden, 0.5) - before) < 1e-4 * before);
  CHECK(std::abs(norm_of(hidden) - 0.5) < 1e-4);
  CHECK(norm_of(module->output->parameters()) == other);
  CHECK(accelerator.clip_grad_norm(model, std::vector<torch::Tensor>(), 0.5) == 0);
  CHECK(norm_of(module->output->parameters()) == other);
  CHECK_THROWS_AS(
      accelerator.clip_grad_norm(model, {torch::zeros({1}, torch::requires_grad())}, 0.5),
      muster::ModelError);
}

TEST_CASE("a rate that the program sets itself is obeyed") {
  Accelerator accelerator;
  auto module = seeded();
  torch::optim::SGD sgd(module->parameters(), 1.0);
  auto [model, optimizer] = accelerator.prepare(module, sgd);
  const auto before = copies(module->parameters());
  accelerator.backward(model(batch(0)).sum());
  sgd.param_groups()[0].options().set_lr(0);
  optimizer.step();
  CHECK(differing(before, module->parameters()).empty());
}
