// Run by `muster launch -n N`: every rank runs every case, in the same order.

#include <muster/accelerator.hpp>
#include <muster/data_loader.hpp>
#include <muster/error.hpp>

#include "nets.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <torch/torch.h>

#include <cmath>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using muster::Accelerator;
using muster::test::copies;
using muster::test::differing;
using muster::test::Mlp;
using muster::test::Normed;

namespace {

/// Inputs [count, 8] and targets [count], equal on all ranks.
std::pair<torch::Tensor, torch::Tensor> some_data(std::int64_t count) {
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(7);
  return {torch::randn({count, 8}, generator), torch::arange(count) % 4};
}

torch::Tensor loss_of(const torch::Tensor& output, const torch::Tensor& target) {
  return torch::nn::functional::cross_entropy(output, target);
}

/// All ranks hold the same bits.
bool equal_on_all(const Accelerator& accelerator, const std::vector<torch::Tensor>& tensors) {
  bool same = true;
  for (const auto& tensor : tensors) {
    const auto mine = tensor.detach().clone();
    same = torch::equal(accelerator.broadcast(mine.clone()), mine) && same;
  }
  return accelerator.reduce(torch::tensor(same ? 0 : 1)).item<std::int64_t>() == 0;
}

std::vector<torch::Tensor> gradients(const torch::nn::Module& module) {
  std::vector<torch::Tensor> result;
  for (const auto& parameter : module.parameters()) {
    if (parameter.grad().defined()) result.push_back(parameter.grad());
  }
  return result;
}

std::uint64_t reductions(const Accelerator& accelerator) {
  const auto text = accelerator.describe();
  const auto end = text.find(" buckets reduced");
  const auto begin = text.rfind(' ', end - 1) + 1;
  return std::stoull(text.substr(begin, end - begin));
}

}  // namespace

TEST_CASE("every rank starts from rank 0's parameters and buffers") {
  Accelerator accelerator;
  torch::manual_seed(static_cast<std::uint64_t>(accelerator.process_index()));
  auto module = std::make_shared<Normed>();
  module->norm->running_mean.fill_(accelerator.process_index() + 1);
  const auto model = accelerator.prepare(module);
  CHECK(equal_on_all(accelerator, module->parameters()));
  CHECK(equal_on_all(accelerator, module->buffers()));
  CHECK(module->norm->running_mean[0].item<float>() == 1);
}

TEST_CASE("models that differ are refused on all ranks, by name") {
  Accelerator accelerator;
  if (accelerator.num_processes() == 1) return;
  const bool odd = accelerator.process_index() == 1;
  CHECK_THROWS_MATCHES(accelerator.prepare(std::make_shared<Mlp>(odd ? 17 : 16)),
                       muster::ModelError,
                       MessageMatches(ContainsSubstring("hidden.weight") &&
                                      ContainsSubstring("17") && ContainsSubstring("16")));
  auto longer = std::make_shared<Mlp>();
  if (odd) longer->register_module("extra", torch::nn::Linear(1, 1));
  CHECK_THROWS_MATCHES(accelerator.prepare(longer), muster::ModelError,
                       MessageMatches(ContainsSubstring("extra.weight")));
  auto other = std::make_shared<Mlp>();
  if (odd) other->to(torch::kDouble);
  CHECK_THROWS_AS(accelerator.prepare(other), muster::ModelError);
}

TEST_CASE("training on ranks equals training on one process with the global batch") {
  const auto [inputs, targets] = some_data(48);
  Accelerator accelerator;
  torch::manual_seed(1);
  auto reference = std::make_shared<Mlp>();
  torch::optim::SGD sgd(reference->parameters(), torch::optim::SGDOptions(0.2).momentum(0.9));
  torch::manual_seed(1);
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] = accelerator.prepare(
      module, torch::optim::SGD(module->parameters(), torch::optim::SGDOptions(0.2).momentum(0.9)));
  for (int i = 0; i < 20; ++i) {
    const auto x = accelerator.split_between_processes(inputs);
    const auto y = accelerator.split_between_processes(targets);
    const auto loss = loss_of(model(x), y);
    accelerator.backward(loss);
    const double norm = accelerator.clip_grad_norm(model, 0.5);
    CHECK(equal_on_all(accelerator, gradients(*module)));
    optimizer.step();
    optimizer.zero_grad();

    sgd.zero_grad();
    const auto whole = loss_of(reference->forward(inputs), targets);
    whole.backward();
    CHECK(std::abs(torch::nn::utils::clip_grad_norm_(reference->parameters(), 0.5) - norm) < 1e-5);
    sgd.step();
    CHECK(std::abs(accelerator.reduce(loss, "mean").item<double>() - whole.item<double>()) < 1e-5);
  }
  CHECK(differing(module->parameters(), reference->parameters(), 1e-5).empty());
  CHECK(equal_on_all(accelerator, module->parameters()));
}

TEST_CASE("micro-steps that accumulate move no gradients") {
  const auto [inputs, targets] = some_data(48);
  Accelerator accelerator({.gradient_accumulation_steps = 3});
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.1));
  const auto x = accelerator.split_between_processes(inputs).chunk(3);
  const auto y = accelerator.split_between_processes(targets).chunk(3);
  for (int i = 0; i < 12; ++i) {
    const auto before = reductions(accelerator);
    const auto weights = copies(module->parameters());
    const auto scope = accelerator.accumulate(model);
    const auto part = static_cast<std::size_t>(i % 3);
    accelerator.backward(loss_of(model(x[part]), y[part]));
    CHECK((reductions(accelerator) == before) == !scope.synchronises());
    optimizer.step();
    optimizer.zero_grad();
    CHECK(differing(weights, module->parameters()).empty() == !scope.synchronises());
  }
  CHECK(optimizer.steps() == 4);
  CHECK(equal_on_all(accelerator, module->parameters()));
}

TEST_CASE("a micro-step that one rank skips does not stop the others") {
  Accelerator accelerator({.gradient_accumulation_steps = 2});
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 1.0));
  const auto before = module->output->bias.detach().clone();
  const bool skips = accelerator.process_index() == accelerator.num_processes() - 1;
  for (int i = 0; i < 2; ++i) {
    const auto scope = accelerator.accumulate(model);
    if (!(skips && i == 0)) accelerator.backward((i + 1) * model(torch::ones({1, 8})).sum());
    optimizer.step();
    optimizer.zero_grad();
  }
  // Gradients 1 and 2, without one 1: divided by the backwards that there were.
  const double count = 2.0 * accelerator.num_processes() - 1;
  const double sum = 3.0 * accelerator.num_processes() - 1;
  CHECK(torch::allclose(module->output->bias, before - sum / count));
  CHECK(equal_on_all(accelerator, module->parameters()));
}

TEST_CASE("a closing micro-step that one rank leaves: no rank counts that step") {
  Accelerator accelerator;
  auto first = std::make_shared<Mlp>();
  auto second = std::make_shared<torch::nn::LinearImpl>(4, 1);
  auto parameters = first->parameters();
  for (const auto& parameter : second->parameters()) parameters.push_back(parameter);
  auto [a, b, optimizer] = accelerator.prepare(first, second, torch::optim::SGD(parameters, 0.1));
  const bool several = accelerator.num_processes() > 1;
  const bool leaves = accelerator.process_index() == accelerator.num_processes() - 1;
  for (int i = 0; i < 3; ++i) {
    const auto before = copies(parameters);
    const auto scope = accelerator.accumulate(a, b);
    if (leaves && i == 1) continue;
    accelerator.backward(b(a(torch::ones({2, 8}) * (i + 1))).mean());
    optimizer.step();
    optimizer.zero_grad();
    CHECK(accelerator.optimizer_step_was_skipped() == (several && i == 1));
    CHECK(optimizer.step_was_skipped() == (several && i == 1));
    CHECK(differing(before, parameters).empty() == (several && i == 1));
  }
  CHECK(optimizer.steps() == 2);
  CHECK(equal_on_all(accelerator, parameters));
}

TEST_CASE("a rank may leave a micro-step before its forward, also of a model with buffers") {
  Accelerator accelerator({.gradient_accumulation_steps = 2});
  auto module = std::make_shared<Normed>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.1));
  const bool leaves = accelerator.process_index() == accelerator.num_processes() - 1;
  torch::manual_seed(static_cast<std::uint64_t>(accelerator.process_index()));
  for (int i = 0; i < 6; ++i) {
    const auto scope = accelerator.accumulate(model);
    if (leaves && (i == 2 || i == 3)) continue;
    accelerator.backward(model(torch::randn({8, 8})).square().mean());
    optimizer.step();
    optimizer.zero_grad();
  }
  CHECK(equal_on_all(accelerator, module->parameters()));
  CHECK(optimizer.steps() == 2);
}

TEST_CASE("nothing to train: frozen models and models without parameters") {
  Accelerator accelerator;
  auto frozen = std::make_shared<Normed>();
  for (auto& parameter : frozen->parameters()) parameter.requires_grad_(false);
  auto model = accelerator.prepare(frozen);
  frozen->norm->running_mean.fill_(accelerator.process_index() + 5);
  CHECK(model(torch::ones({4, 8})).size(1) == 4);
  CHECK(equal_on_all(accelerator, {frozen->norm->running_var}));
  auto empty = accelerator.prepare(torch::nn::Sequential(torch::nn::ReLU()));
  CHECK(empty(torch::ones({2})).equal(torch::ones({2})));
}

TEST_CASE("frozen parameters stay as they are") {
  const auto [inputs, targets] = some_data(8);
  Accelerator accelerator;
  auto module = std::make_shared<Mlp>();
  for (auto& parameter : module->hidden->parameters()) parameter.requires_grad_(false);
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::AdamW(module->parameters(), 0.1));
  const auto frozen = copies(module->hidden->parameters());
  const auto trained = copies(module->output->parameters());
  for (int i = 0; i < 5; ++i) {
    accelerator.backward(loss_of(model(inputs), targets));
    optimizer.step();
    optimizer.zero_grad();
  }
  CHECK(differing(frozen, module->hidden->parameters()).empty());
  CHECK_FALSE(differing(trained, module->output->parameters()).empty());
}

TEST_CASE("tied weights stay tied and step once") {
  struct TiedNet : torch::nn::Module {
    TiedNet() {
      table = register_parameter("table", torch::randn({8, 8}));
      head = register_parameter("head", table);
    }
    torch::Tensor forward(const torch::Tensor& x) {
      return torch::linear(torch::relu(torch::linear(x, table)), head);
    }
    torch::Tensor table, head;
  };
  Accelerator accelerator;
  const auto [inputs, targets] = some_data(8);
  torch::manual_seed(2);
  auto reference = std::make_shared<TiedNet>();
  torch::optim::SGD sgd({reference->table}, 0.1);
  torch::manual_seed(2);
  auto module = std::make_shared<TiedNet>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.1));
  for (int i = 0; i < 3; ++i) {
    accelerator.backward(loss_of(model(inputs), targets));
    optimizer.step();
    optimizer.zero_grad();
    sgd.zero_grad();
    loss_of(reference->forward(inputs), targets).backward();
    sgd.step();
  }
  CHECK(module->table.is_same(module->head));
  CHECK(torch::allclose(module->table, reference->table, 1e-5, 1e-6));
  CHECK(equal_on_all(accelerator, module->parameters()));
}

TEST_CASE("two forwards and one backward, with batch norm") {
  const auto [inputs, targets] = some_data(16);
  Accelerator accelerator;
  auto module = std::make_shared<Normed>();
  auto model = accelerator.prepare(module);
  const auto real = model(inputs), fake = model(inputs + 1);
  CHECK_NOTHROW(accelerator.backward(loss_of(real, targets) + loss_of(fake, targets)));
  CHECK(gradients(*module).size() == module->parameters().size());
  CHECK(equal_on_all(accelerator, gradients(*module)));
}

TEST_CASE("a buffer that the module assigns anew starts each forward from rank 0's value") {
  struct Counting : torch::nn::Module {
    explicit Counting(int by) : step(by) {
      seen = register_buffer("seen", torch::zeros({1}));
      weight = register_parameter("weight", torch::ones({1}));
    }
    torch::Tensor forward(const torch::Tensor& x) {
      started = named_buffers()["seen"].item<float>();
      named_buffers()["seen"].set_data(named_buffers()["seen"] + step);
      return x * weight;
    }
    int step;
    double started = -1;
    torch::Tensor seen, weight;
  };
  Accelerator accelerator;
  auto module = std::make_shared<Counting>(accelerator.process_index() + 1);
  auto model = accelerator.prepare(module);
  for (int i = 0; i < 3; ++i) {
    accelerator.backward(model(torch::ones({1})).sum());
    CHECK(module->started == i);
  }
}

TEST_CASE("batch-norm statistics are rank 0's wherever the next forward looks") {
  Accelerator accelerator;
  auto module = std::make_shared<Normed>();
  auto model = accelerator.prepare(module);
  torch::manual_seed(static_cast<std::uint64_t>(accelerator.process_index()));
  accelerator.backward(model(torch::randn({8, 8})).sum());
  accelerator.backward(model(torch::randn({8, 8})).sum());
  const auto path = accelerator.save_model(
      model, std::filesystem::temp_directory_path() / "muster-norm.safetensors");
  accelerator.load_model(model, path);
  CHECK(equal_on_all(accelerator, module->buffers()));
}

TEST_CASE("two models and two optimizers, each with its own window") {
  Accelerator accelerator({.gradient_accumulation_steps = 2});
  torch::manual_seed(4);
  auto critic = std::make_shared<Mlp>();
  auto maker = std::make_shared<torch::nn::LinearImpl>(3, 8);
  auto [c, g, critic_steps, maker_steps] =
      accelerator.prepare(critic, maker, torch::optim::SGD(critic->parameters(), 0.1),
                          torch::optim::SGD(maker->parameters(), 0.1));
  for (int i = 0; i < 4; ++i) {
    const auto noise = torch::ones({2, 3}) * (accelerator.process_index() + 1);
    {
      const auto scope = accelerator.accumulate(c);
      critic_steps.zero_grad();
      accelerator.backward(c(torch::ones({2, 8})).mean());
      accelerator.backward(-c(g(noise).detach()).mean());
      critic_steps.step();
    }
    const auto before = copies(critic->parameters());
    {
      const auto scope = accelerator.accumulate(g);
      maker_steps.zero_grad();
      accelerator.backward(c(g(noise)).mean());
      maker_steps.step();
    }
    CHECK(differing(before, critic->parameters()).empty());
  }
  CHECK(critic_steps.steps() == 2);
  CHECK(maker_steps.steps() == 2);
  CHECK(equal_on_all(accelerator, critic->parameters()));
  CHECK(equal_on_all(accelerator, maker->parameters()));
}

TEST_CASE("a loss of another model's micro-step stays out of an open window") {
  Accelerator accelerator({.gradient_accumulation_steps = 2});
  auto critic = std::make_shared<torch::nn::LinearImpl>(8, 1);
  auto maker = std::make_shared<torch::nn::LinearImpl>(8, 8);
  auto [c, g, critic_steps, maker_steps] =
      accelerator.prepare(critic, maker, torch::optim::SGD(critic->parameters(), 1.0),
                          torch::optim::SGD(maker->parameters(), 1.0));
  auto noise = torch::ones({1, 8}, torch::requires_grad());
  const auto before = critic->bias.detach().clone();
  const auto made = maker->bias.detach().clone();
  for (int i = 0; i < 2; ++i) {
    {
      const auto scope = accelerator.accumulate(c);
      accelerator.backward(c(torch::ones({1, 8})).sum());
      critic_steps.step();
      critic_steps.zero_grad();
    }
    const auto scope = accelerator.accumulate(g);
    accelerator.backward(100 * c(g(noise)).sum());
    maker_steps.step();
    maker_steps.zero_grad();
  }
  CHECK(torch::allclose(critic->bias, before - 1));
  CHECK_FALSE(torch::equal(maker->bias, made));
  CHECK(noise.grad().defined());
}

TEST_CASE("one optimizer over several models") {
  Accelerator accelerator;
  auto first = std::make_shared<Mlp>();
  auto second = std::make_shared<torch::nn::LinearImpl>(4, 1);
  auto parameters = first->parameters();
  for (const auto& parameter : second->parameters()) parameters.push_back(parameter);
  auto [optimizer, a, b] = accelerator.prepare(torch::optim::AdamW(parameters, 0.1), first, second);
  const auto before_first = copies(first->parameters()),
             before_second = copies(second->parameters());
  const auto scope = accelerator.accumulate(a, b);
  accelerator.backward(b(a(torch::ones({2, 8}) * accelerator.process_index())).mean());
  optimizer.step();
  CHECK_FALSE(differing(before_first, first->parameters()).empty());
  CHECK_FALSE(differing(before_second, second->parameters()).empty());
  CHECK(equal_on_all(accelerator, first->parameters()));
  CHECK(equal_on_all(accelerator, second->parameters()));
}

TEST_CASE("clip_grad_value limits each element, on all ranks alike") {
  Accelerator accelerator;
  auto module = std::make_shared<Mlp>();
  auto model = accelerator.prepare(module);
  accelerator.backward(model(torch::ones({1, 8}) * (accelerator.process_index() + 1)).sum() * 100);
  accelerator.clip_grad_value(model, 0.25);
  for (const auto& gradient : gradients(*module))
    CHECK(gradient.abs().max().item<double>() <= 0.25);
  CHECK(equal_on_all(accelerator, gradients(*module)));
  CHECK(accelerator.clip_grad_norm(model, 1e9, INFINITY) <= 0.25);
}

TEST_CASE("code or a person", "[.person]") {
  CHECK(Accelerator({.gradient_accumulation_steps = 3}).gradient_accumulation_steps() == 3);
  CHECK(Accelerator({.gradient_accumulation_steps = 3}).gradient_accumulation_steps() == 3);
  CHECK(Accelerator().gradient_accumulation_steps() == 4);
}

TEST_CASE("LBFGS on ranks searches as one process does with the global batch") {
  const auto [inputs, targets] = some_data(48);
  const auto options = torch::optim::LBFGSOptions(0.5).max_iter(6).line_search_fn("strong_wolfe");
  Accelerator accelerator;
  torch::manual_seed(1);
  auto reference = std::make_shared<Mlp>();
  torch::optim::LBFGS by_hand(reference->parameters(), options);
  torch::manual_seed(1);
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::LBFGS(module->parameters(), options));
  const auto x = accelerator.split_between_processes(inputs);
  const auto y = accelerator.split_between_processes(targets);
  for (int i = 0; i < 3; ++i) {
    const auto loss = optimizer.step([&, &model = model, &optimizer = optimizer] {
      optimizer.zero_grad();
      auto value = loss_of(model(x), y);
      accelerator.backward(value);
      return value;
    });
    const auto whole = by_hand.step([&, &inputs = inputs, &targets = targets] {
      by_hand.zero_grad();
      auto value = loss_of(reference->forward(inputs), targets);
      value.backward();
      return value;
    });
    CHECK(std::abs(loss.item<double>() - whole.item<double>()) < 1e-4);
  }
  CHECK(differing(module->parameters(), reference->parameters(), 1e-3).empty());
  CHECK(equal_on_all(accelerator, module->parameters()));
}

TEST_CASE("weights are saved by rank 0, and loaded by all, or by none") {
  Accelerator accelerator;
  torch::manual_seed(5);
  auto module = std::make_shared<Normed>();
  auto model = accelerator.prepare(module);
  const auto saved = copies(module->parameters());
  const auto file =
      accelerator.save_model(model, std::filesystem::temp_directory_path() / "muster-save-model");
  CHECK(file.filename() == "model.safetensors");
  {
    const torch::NoGradGuard no_grad;
    for (auto& parameter : module->parameters()) parameter.zero_();
  }
  accelerator.load_model(model, file);
  CHECK(differing(saved, module->parameters()).empty());
  accelerator.load_model(model, file.parent_path());

  auto other = accelerator.prepare(std::make_shared<Mlp>());
  const auto before = copies(other->parameters());
  CHECK_THROWS_MATCHES(accelerator.load_model(other, file), muster::CheckpointError,
                       MessageMatches(ContainsSubstring("hidden.weight")));
  CHECK_THROWS_MATCHES(accelerator.load_model(other, "no-such-file.safetensors"),
                       muster::CheckpointError,
                       MessageMatches(ContainsSubstring("no-such-file.safetensors")));
  CHECK_THROWS_AS(accelerator.save_model(other, "/proc/no/such/folder"), muster::CheckpointError);
  CHECK(differing(before, other->parameters()).empty());
  accelerator.on_main_process([&] { std::filesystem::remove_all(file.parent_path()); });
}
