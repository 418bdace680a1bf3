// One process: a world of one.

#include <muster/accelerator.hpp>
#include <muster/data_loader.hpp>
#include <muster/error.hpp>

#include "nets.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <torch/torch.h>

#include <cmath>
#include <memory>
#include <type_traits>
#include <utility>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using muster::Accelerator;
using muster::test::Mlp;

namespace {

muster::TensorDataset some_data(std::int64_t count = 12) {
  return {torch::randn({count, 8}), torch::arange(count) % 4};
}

auto loss_of(const torch::Tensor& output, const torch::Tensor& target) {
  return torch::nn::functional::cross_entropy(output, target);
}

}  // namespace

TEST_CASE("a world of one has one of everything") {
  const Accelerator accelerator;
  CHECK(accelerator.num_processes() == 1);
  CHECK(accelerator.process_index() == 0);
  CHECK(accelerator.is_main_process());
  CHECK(accelerator.is_local_main_process());
  CHECK(accelerator.device() == torch::kCPU);
  CHECK(accelerator.sync_gradients());
  CHECK(accelerator.gradient_accumulation_steps() == 1);
  CHECK_THAT(accelerator.describe(),
             ContainsSubstring("ddp over 1 rank on 1 host (self), cpu, fp32"));
  accelerator.wait_for_everyone();
}

TEST_CASE("options in code win; wrong ones are refused") {
  CHECK(Accelerator({.gradient_accumulation_steps = 3}).gradient_accumulation_steps() == 3);
  CHECK_THROWS_MATCHES(Accelerator({.gradient_accumulation_steps = 0}), muster::ConfigError,
                       MessageMatches(ContainsSubstring("gradient_accumulation_steps")));
  CHECK_THROWS_MATCHES(Accelerator({.strategy = "zero5"}), muster::ConfigError,
                       MessageMatches(ContainsSubstring("zero5") && ContainsSubstring("ddp")));
}

TEST_CASE("Accelerators of one process share its group and must agree on it") {
  const Accelerator first({.communicator = "self"});
  const Accelerator second({.gradient_accumulation_steps = 4, .communicator = "self"});
  CHECK(first.gradient_accumulation_steps() == 1);
  CHECK_THROWS_MATCHES(Accelerator({.communicator = "gloo"}), muster::ConfigError,
                       MessageMatches(ContainsSubstring("self") && ContainsSubstring("gloo")));
}

TEST_CASE("prepare gives handles in the order of its arguments") {
  Accelerator accelerator;
  auto module = std::make_shared<Mlp>();
  torch::optim::SGD sgd(module->parameters(), 0.1);
  auto [optimizer, loader, model] =
      accelerator.prepare(sgd, muster::DataLoader(some_data(), {.batch_size = 4}), module);
  static_assert(std::is_same_v<decltype(optimizer), muster::Optimizer>);
  static_assert(std::is_same_v<decltype(model), muster::Model<Mlp>>);
  CHECK(&optimizer.unwrap() == &sgd);
  CHECK(model.unwrap() == module);
  CHECK(accelerator.unwrap_model(model) == module);
  CHECK(loader.size() == 3);
}

TEST_CASE("a single object is given bare, and twice the same") {
  Accelerator accelerator;
  auto module = std::make_shared<Mlp>();
  auto model = accelerator.prepare(module);
  CHECK(accelerator.prepare(module) == model);
  CHECK(accelerator.prepare(model) == model);
  torch::optim::SGD sgd(module->parameters(), 0.1);
  auto optimizer = accelerator.prepare(sgd);
  CHECK(accelerator.prepare(sgd) == optimizer);
  CHECK(accelerator.prepare(optimizer) == optimizer);
  auto loader = accelerator.prepare(muster::DataLoader(some_data(), {.batch_size = 4}));
  CHECK(accelerator.prepare(loader).size() == loader.size());
}

TEST_CASE("all kinds of modules are prepared") {
  Accelerator accelerator;
  const auto x = torch::randn({2, 8});
  muster::test::Tail holder;
  auto tail = accelerator.prepare(holder);
  CHECK(tail(x).equal(holder->forward(x)));
  CHECK(tail(x, 3.0).equal(holder->forward(x, 3.0)));
  torch::nn::Sequential sequence(torch::nn::Linear(8, 4), torch::nn::ReLU());
  CHECK(accelerator.prepare(sequence)(x).equal(sequence->forward(x)));

  torch::jit::Module script("scaled");
  script.register_parameter("weight", torch::full({8}, 2.0, torch::requires_grad()), false);
  script.register_attribute("training", c10::BoolType::get(), true);
  script.define("def forward(self, x):\n  return x * self.weight\n");
  auto scaled = accelerator.prepare(script);
  torch::optim::SGD sgd({script.attr("weight").toTensor()}, 0.5);
  auto optimizer = accelerator.prepare(sgd);
  accelerator.backward(scaled(torch::ones({8})).toTensor().sum());
  optimizer.step();
  CHECK(script.attr("weight").toTensor().equal(torch::full({8}, 1.5)));
  scaled->eval();
  CHECK_FALSE(script.is_training());
}

TEST_CASE("optimizers are borrowed or owned") {
  Accelerator accelerator;
  auto module = std::make_shared<Mlp>();
  auto model = accelerator.prepare(module);
  const auto step = [&](muster::Optimizer optimizer) {
    const auto before = module->hidden->weight.detach().clone();
    accelerator.backward(model(torch::ones({2, 8})).sum());
    optimizer.step();
    optimizer.zero_grad();
    return !before.equal(module->hidden->weight);
  };
  torch::optim::SGD borrowed(module->parameters(), 0.1);
  CHECK(step(accelerator.prepare(borrowed)));
  CHECK(step(accelerator.prepare(torch::optim::AdamW(module->parameters(), 0.1))));
  CHECK(step(accelerator.prepare(std::make_unique<torch::optim::Adam>(module->parameters(), 0.1))));
  const auto shared = std::make_shared<torch::optim::Adagrad>(module->parameters(), 0.1);
  CHECK(step(accelerator.prepare(shared)));
  const std::shared_ptr<torch::optim::Optimizer> base =
      std::make_shared<torch::optim::RMSprop>(module->parameters(), 0.1);
  CHECK(step(accelerator.prepare(base)));
}

TEST_CASE("options that change are obeyed") {
  Accelerator accelerator;
  auto module = std::make_shared<Mlp>();
  torch::optim::SGD sgd(module->parameters(), 0.1);
  auto [model, optimizer] = accelerator.prepare(module, sgd);
  const auto before = muster::test::copies(module->parameters());
  optimizer->param_groups()[0].options().set_lr(0);
  accelerator.backward(model(torch::ones({2, 8})).sum());
  optimizer.step();
  CHECK(muster::test::differing(before, module->parameters()).empty());
  CHECK(optimizer.steps() == 1);
}

TEST_CASE("an optimizer's parameter that no prepared model holds is named") {
  Accelerator accelerator;
  auto module = std::make_shared<Mlp>();
  auto stranger = torch::zeros({3, 5}, torch::requires_grad());
  auto parameters = module->parameters();
  parameters.push_back(stranger);
  torch::optim::SGD sgd(parameters, 0.1);
  CHECK_THROWS_MATCHES(
      accelerator.prepare(module, sgd), muster::ModelError,
      MessageMatches(ContainsSubstring("parameter 4 of group 0 ([3, 5] float32)")));
}

TEST_CASE("a parameter in two models is refused by name") {
  Accelerator accelerator;
  auto module = std::make_shared<Mlp>();
  auto model = accelerator.prepare(module);
  CHECK_THROWS_MATCHES(
      accelerator.prepare(module->hidden), muster::ModelError,
      MessageMatches(ContainsSubstring("'weight' is prepared already, as 'hidden.weight'")));
}

TEST_CASE("a parameter that was replaced by assignment is named") {
  Accelerator accelerator;
  auto module = std::make_shared<Mlp>();
  module->output->weight = torch::randn({4, 16}, torch::requires_grad());
  CHECK_THROWS_MATCHES(accelerator.prepare(module), muster::ModelError,
                       MessageMatches(ContainsSubstring("'output.weight' is registered")));
  // Tied by assignment: the other one is registered, and trained.
  auto tied = std::make_shared<Mlp>(8);
  auto second = tied->register_module("second", torch::nn::Linear(8, 8));
  second->weight = tied->hidden->weight;
  CHECK_NOTHROW(accelerator.prepare(tied));
}

TEST_CASE("a loop equals one by hand, with every order of step and zero_grad") {
  torch::manual_seed(0);
  const auto data = some_data(16);
  const auto batches = data.get_batch({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  const auto inputs = batches.data.chunk(4), targets = batches.target.chunk(4);

  torch::manual_seed(1);
  auto reference = std::make_shared<Mlp>();
  torch::optim::AdamW adamw(reference->parameters(), 0.01);
  for (int i = 0; i < 40; i += 2) {
    const auto a = static_cast<std::size_t>(i % 4), b = a + 1;
    adamw.zero_grad();
    const auto loss = (loss_of(reference->forward(inputs[a]), targets[a]) +
                       loss_of(reference->forward(inputs[b]), targets[b])) /
                      2;
    loss.backward();
    torch::nn::utils::clip_grad_norm_(reference->parameters(), 0.5);
    adamw.step();
  }
  for (const int order : {0, 1, 2}) {
    torch::manual_seed(1);
    Accelerator accelerator({.gradient_accumulation_steps = 2});
    auto module = std::make_shared<Mlp>();
    auto [model, optimizer] =
        accelerator.prepare(module, torch::optim::AdamW(module->parameters(), 0.01));
    for (int i = 0; i < 40; ++i) {
      const auto scope = accelerator.accumulate(model);
      CHECK(accelerator.sync_gradients() == (i % 2 == 1));
      CHECK(scope.synchronises() == (i % 2 == 1));
      const auto at = static_cast<std::size_t>(i % 4);
      if (order == 0) optimizer.zero_grad();
      const auto loss = loss_of(model(inputs[at]), targets[at]);
      if (order == 1) optimizer.zero_grad();
      accelerator.backward(loss);
      const double norm = accelerator.clip_grad_norm(model, 0.5);
      CHECK(std::isnan(norm) == (i % 2 == 0));
      optimizer.step();
      if (order == 2) optimizer.zero_grad();
    }
    CHECK(optimizer.steps() == 20);
    CHECK(muster::test::differing(module->parameters(), reference->parameters(), 1e-5).empty());
  }
}

TEST_CASE("windows close with the loader, unless told otherwise") {
  for (const auto& [at_end, expected] : {std::pair{true, 6U}, std::pair{false, 5U}}) {
    Accelerator accelerator({.gradient_accumulation_steps = 4, .sync_with_dataloader = at_end});
    auto module = std::make_shared<Mlp>();
    auto [model, optimizer, loader] =
        accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.1),
                            muster::DataLoader(some_data(10), {.batch_size = 1}));
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (auto& batch : loader) {
        const auto scope = accelerator.accumulate(model);
        accelerator.backward(loss_of(model(batch.data), batch.target));
        optimizer.step();
        optimizer.zero_grad();
      }
    }
    CHECK(optimizer.steps() == expected);
  }
}

TEST_CASE("backward refuses what is no loss") {
  Accelerator accelerator;
  auto model = accelerator.prepare(std::make_shared<Mlp>());
  CHECK_THROWS_MATCHES(accelerator.backward(model(torch::ones({2, 8}))), muster::ModelError,
                       MessageMatches(ContainsSubstring("[2, 4] float32")));
  CHECK_THROWS_MATCHES(accelerator.backward(torch::ones({})), muster::ModelError,
                       MessageMatches(ContainsSubstring("requires a gradient")));
}

TEST_CASE("step with a closure: once for known optimizers, as often as LBFGS likes alone") {
  const auto x = torch::randn({32, 8}), y = torch::randn({32, 4});
  const auto run = [&](Accelerator& accelerator, auto make) {
    torch::manual_seed(3);
    auto module = std::make_shared<Mlp>();
    auto [model, optimizer] = accelerator.prepare(module, make(module->parameters()));
    int calls = 0;
    double first = 0, last = 0;
    for (int i = 0; i < 3; ++i) {
      const auto loss = optimizer.step([&, &model = model, &optimizer = optimizer] {
        ++calls;
        optimizer.zero_grad();
        auto value = torch::mse_loss(model(x), y);
        accelerator.backward(value);
        return value;
      });
      (i == 0 ? first : last) = loss.template item<double>();
    }
    CHECK(last < first);
    return calls;
  };
  const auto lbfgs = [](const auto& parameters) { return torch::optim::LBFGS(parameters, 0.1); };
  Accelerator accelerator;
  CHECK(run(accelerator, [](const auto& p) { return torch::optim::SGD(p, 0.1); }) == 3);
  CHECK(run(accelerator, lbfgs) > 3);
  Accelerator accumulating({.gradient_accumulation_steps = 2});
  CHECK_THROWS_MATCHES(run(accumulating, lbfgs), muster::UnsupportedError,
                       MessageMatches(ContainsSubstring("gradient_accumulation_steps = 1")));
}

TEST_CASE("no_sync in a world of one adds up, and the next backward takes the mean") {
  Accelerator accelerator;
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 1.0));
  const auto before = module->output->bias.detach().clone();
  {
    const auto scope = accelerator.no_sync(model);
    CHECK_FALSE(scope.synchronises());
    accelerator.backward(model(torch::ones({1, 8})).sum());
    optimizer.step();  // not due
  }
  CHECK(before.equal(module->output->bias));
  accelerator.backward(3 * model(torch::ones({1, 8})).sum());
  optimizer.step();
  // The bias of the output has a gradient of 1 and 3: the mean of two micro-steps is 2.
  CHECK(torch::allclose(module->output->bias, before - 2));
}

TEST_CASE("accumulate inside no_sync closes no window; the next one outside does") {
  Accelerator accelerator;
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 1.0));
  const auto before = module->output->bias.detach().clone();
  const auto micro_step = [&, &model = model, &optimizer = optimizer](double factor) {
    const auto step = accelerator.accumulate(model);
    accelerator.backward(factor * model(torch::ones({1, 8})).sum());
    optimizer.step();
    optimizer.zero_grad();
    CHECK(step.synchronises() == accelerator.sync_gradients());
    return step.synchronises();
  };
  {
    const auto scope = accelerator.no_sync(model);
    CHECK_FALSE(accelerator.sync_gradients());
    CHECK_FALSE(micro_step(1));
    CHECK_FALSE(micro_step(2));
  }
  CHECK(before.equal(module->output->bias));
  CHECK(micro_step(6));
  CHECK(torch::allclose(module->output->bias, before - 3));
  CHECK(optimizer.steps() == 1);
}

TEST_CASE("a window that no_sync holds open is closed at once, however long windows are") {
  Accelerator accelerator({.gradient_accumulation_steps = 2});
  auto model = accelerator.prepare(std::make_shared<Mlp>());
  const auto closes = [&] { return accelerator.accumulate(model).synchronises(); };
  {
    const auto scope = accelerator.no_sync(model);
    CHECK_FALSE(closes());
    CHECK_FALSE(closes());
  }
  CHECK(closes());
  CHECK_FALSE(closes());
  CHECK(closes());
}

TEST_CASE("what a loader's last batch left open closes with the next micro-step") {
  Accelerator accelerator({.gradient_accumulation_steps = 8});
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer, loader] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 1.0),
                          muster::DataLoader(some_data(10), {.batch_size = 4}));
  std::string flags;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (auto& batch : loader) {
      for (const auto& part : batch.data.split(2)) {
        const auto step = accelerator.accumulate(model);
        accelerator.backward(model(part).sum());
        optimizer.step();
        optimizer.zero_grad();
        flags += step.synchronises() ? '1' : '0';
      }
    }
  }
  CHECK(flags == "0000010000");
  CHECK(optimizer.steps() == 1);
}

TEST_CASE("skip_first_batches is a member too") {
  Accelerator accelerator;
  auto loader = accelerator.prepare(muster::DataLoader(some_data(), {.batch_size = 4}));
  auto rest = accelerator.skip_first_batches(loader, 2);
  CHECK(rest.size() == 1);
  int batches = 0;
  for (auto& batch : rest) {
    CHECK(torch::equal(batch.target, torch::arange(8, 12) % 4));
    ++batches;
  }
  CHECK(batches == 1);
  CHECK(rest.size() == 3);
  CHECK_THROWS_AS(accelerator.skip_first_batches(loader, -1), muster::ConfigError);
}

TEST_CASE("gradients of narrow parameters are told as what they are, fp32") {
  Accelerator accelerator;
  auto narrow = std::make_shared<torch::nn::LinearImpl>(16, 16);
  narrow->to(torch::kBFloat16);
  const auto model = accelerator.prepare(narrow);
  CHECK_THAT(accelerator.describe(), ContainsSubstring("parameters 544 B, gradients 1.06 KiB"));
}

TEST_CASE("free_memory lets go of models and optimizers") {
  Accelerator accelerator;
  std::weak_ptr<Mlp> watched;
  {
    auto module = std::make_shared<Mlp>();
    watched = module;
    auto [model, optimizer] =
        accelerator.prepare(module, torch::optim::SGD(module->parameters(), 1.0));
    accelerator.backward(model(torch::ones({1, 8})).sum());
  }
  CHECK_FALSE(watched.expired());
  accelerator.free_memory();
  CHECK(watched.expired());
}

TEST_CASE("an optimizer and an Accelerator may go in any order") {
  auto module = std::make_shared<Mlp>();
  auto accelerator = std::make_unique<Accelerator>();
  auto sgd = std::make_unique<torch::optim::SGD>(module->parameters(), 0.1);
  auto model = accelerator->prepare(module);
  auto optimizer = std::make_unique<muster::Optimizer>(accelerator->prepare(*sgd));
  optimizer.reset();
  sgd.reset();
  accelerator.reset();
  CHECK(model(torch::ones({1, 8})).size(1) == 4);
}
