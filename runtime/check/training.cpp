// Training on N ranks, one micro-step each, has the losses and weights of one process with N
// micro-steps: bit by bit, for every strategy of this build.

#include <muster/accelerator.hpp>
#include <muster/data_loader.hpp>
#include <muster/setting.hpp>

#include "check/alone.hpp"
#include "check/checks.hpp"
#include "check/lists.hpp"

#include <ATen/ops/mse_loss.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/stack.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <memory>
#include <sstream>
#include <string>

namespace muster::check {
namespace {

constexpr std::int64_t width = 24, batch_size = 4, steps = 8;

struct Net : torch::nn::Module {
  explicit Net(Numbers& numbers) {
    int salt = 0;
    for (const auto& parameter : parameters()) {
      const auto values = numbers.of(salt++, parameter.numel(), at::kFloat);
      parameter.detach().copy_(values.view(parameter.sizes()).sin().mul_(0.3));
    }
  }
  at::Tensor forward(const at::Tensor& x) {  // [n, width] to [n, 1]
    return output(at::relu(hidden(at::relu(input(x)))));
  }
  torch::nn::Linear input = register_module("input", torch::nn::Linear(width, 32));
  torch::nn::Linear hidden = register_module("hidden", torch::nn::Linear(32, 32));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(32, 1));
};

/// How it is trained; the same on ranks and alone.
struct Recipe {
  std::string strategy;
  bool adamw;
  double bucket_mb;  ///< Small: several buckets; large: one.
};

struct Trained {
  std::vector<at::Tensor> losses;  ///< 0-dim, one a micro-step of this process.
  std::vector<std::pair<std::string, at::Tensor>> weights;
};

TensorDataset some_data(Numbers& numbers, int ranks) {
  const std::int64_t samples = batch_size * ranks * steps;
  const auto data = numbers.of(1, samples * width, at::kFloat).view({samples, width}).sin();
  return {data, data.narrow(1, 0, 3).sum(1, /*keepdim=*/true)};
}

std::unique_ptr<torch::optim::Optimizer> optimizer_for(const Recipe& recipe, Net& net) {
  if (recipe.adamw) {
    return std::make_unique<torch::optim::AdamW>(net.parameters(),
                                                 torch::optim::AdamWOptions(1e-2));
  }
  return std::make_unique<torch::optim::SGD>(net.parameters(),
                                             torch::optim::SGDOptions(0.05).momentum(0.9));
}

/// One epoch of `steps` steps on the group that the environment tells.
Trained train(Bench& bench, const Recipe& recipe, int micro_steps) {
  auto options = bench.options();
  options.gradient_accumulation_steps = micro_steps;
  options.strategy = recipe.strategy;
  options.bucket_mb = recipe.bucket_mb;
  Accelerator accelerator(options);
  auto net = std::make_shared<Net>(bench.numbers());
  auto [model, optimizer, loader] =
      accelerator.prepare(net, optimizer_for(recipe, *net),
                          DataLoader(some_data(bench.numbers(), bench.world().size),
                                     {.batch_size = batch_size, .shuffle = true, .seed = 11}));
  Trained trained;
  for (auto& batch : loader) {
    auto step = accelerator.accumulate(model);
    auto loss = at::mse_loss(model(batch.data), batch.target);
    trained.losses.push_back(loss.detach().to(at::kCPU));
    accelerator.backward(loss);
    accelerator.clip_grad_norm(model, 1.0);
    optimizer.step();
    optimizer.zero_grad();
  }
  for (const auto& item : net->named_parameters()) {
    trained.weights.emplace_back(item.key(), item.value().detach().to(at::kCPU));
  }
  return trained;
}

/// The strategies of this build, or the one that a person chose.
std::vector<std::string> strategies(const Bench& bench) {
  const auto& chosen = bench.settings().train.strategy;
  if (chosen != "auto") return {chosen};
  std::vector<std::string> names;
  std::istringstream choices(std::string(find_setting_by_id("train.strategy")->choices));
  for (std::string name; choices >> name;) {
    if (name != "auto") names.push_back(name);
  }
  return names;
}

std::vector<Recipe> recipes(const Bench& bench) {
  std::vector<Recipe> list;
  for (const auto& strategy : strategies(bench)) {
    list.push_back({strategy, true, 25});
    list.push_back({strategy, false, 0.002});
  }
  return list;
}

std::string text_of(const Recipe& recipe) {
  return recipe.strategy + ", " + (recipe.adamw ? "AdamW" : "SGD");
}

/// Only sums in rank order have the same bits as one process's.
at::Tensor tolerance(bool exact, const at::Tensor& expected) {
  return exact ? at::Tensor() : expected.to(at::kDouble).abs().mul_(1e-4).add_(1e-5);
}

void compare(Bench& bench, const Recipe& recipe, const Trained& ranks, const Trained& alone,
             bool exact) {
  const auto& world = bench.world();
  const auto name = text_of(recipe);
  bench.expect(ranks.losses.size() == static_cast<std::size_t>(steps), name,
               std::to_string(steps) + " micro-steps", std::to_string(ranks.losses.size()));
  for (std::size_t step = 0; step < ranks.losses.size(); ++step) {
    const auto micro_step =
        step * static_cast<std::size_t>(world.size) + static_cast<std::size_t>(world.rank);
    if (micro_step >= alone.losses.size()) break;
    const auto& expected = alone.losses[micro_step];
    bench.expect_same(name + ", loss of step " + std::to_string(step), expected, ranks.losses[step],
                      tolerance(exact, expected));
  }
  for (std::size_t i = 0; i < alone.weights.size(); ++i) {
    const auto& [weight, expected] = alone.weights[i];
    bench.expect_same(name + ", " + weight, expected, ranks.weights[i].second,
                      tolerance(exact, expected));
  }
}

}  // namespace

void check_training(Bench& bench) {
  const bool exact = bench.group().capabilities().ordered_sums;
  const auto list = recipes(bench);
  std::vector<Trained> on_ranks;
  for (const auto& recipe : list) on_ranks.push_back(train(bench, recipe, 1));
  bench.group().barrier("all have trained").wait();
  bench.leave();
  {
    const Alone alone;
    for (std::size_t i = 0; i < list.size(); ++i) {
      compare(bench, list[i], on_ranks[i], train(bench, list[i], bench.world().size), exact);
    }
  }
  bench.join();
  std::string names;
  for (const auto& name : strategies(bench)) names += (names.empty() ? "" : ", ") + name;
  bench.looked_at(names + ": equals one process" + (exact ? ", every bit" : ", up to rounding"));
}

}  // namespace muster::check
