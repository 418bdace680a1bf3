// fp16 in one process: the scale of the loss, and steps that are skipped for their gradients.

#include <muster/accelerator.hpp>
#include <muster/error.hpp>
#include <muster/schedules.hpp>

#include "nets.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <torch/torch.h>

#include <functional>
#include <memory>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using muster::Accelerator;
using muster::AcceleratorOptions;
using muster::NonFiniteError;
using muster::test::copies;
using muster::test::differing;
using muster::test::Mlp;

namespace {

using Parameters = std::vector<torch::Tensor>;
using Make = std::function<std::unique_ptr<torch::optim::Optimizer>(const Parameters&)>;

template <class Kind, class Options>
Make make(Options options) {
  return [options](const Parameters& parameters) -> std::unique_ptr<torch::optim::Optimizer> {
    return std::make_unique<Kind>(parameters, options);
  };
}

/// Of an unknown kind: steps by its own loop.
struct PlainSgd : torch::optim::SGD {
  using torch::optim::SGD::SGD;
};

std::vector<Make> every_kind() {
  using namespace torch::optim;
  return {make<SGD>(SGDOptions(0.1).momentum(0.9)), make<Adam>(AdamOptions(0.01)),
          make<AdamW>(AdamWOptions(0.01)),          make<Adagrad>(AdagradOptions(0.01)),
          make<RMSprop>(RMSpropOptions(0.01)),      make<PlainSgd>(SGDOptions(0.1).momentum(0.9))};
}

torch::Tensor some_loss(const muster::Model<Mlp>& model, int i) {
  const auto x = torch::linspace(-1, 1, 32).view({4, 8}) * (i % 3 + 1);
  return model(x).square().mean();
}

AcceleratorOptions fp16(double scale = 1024, int interval = 2000) {
  AcceleratorOptions options;
  options.mixed_precision = "fp16";
  options.grad_scaler.init_scale = scale;
  options.grad_scaler.growth_interval = interval;
  return options;
}

}  // namespace

TEST_CASE("an overflow skips that step alone, for every optimizer; the schedule waits") {
  Accelerator accelerator(fp16());
  for (const auto& kind : every_kind()) {
    accelerator.scaler().load_state({1024, 0});
    auto module = std::make_shared<Mlp>();
    auto [model, optimizer, schedule] =
        accelerator.prepare(module, kind(module->parameters()), muster::StepLR{1, 0.5});
    for (int i = 1; i <= 3; ++i) {
      const bool broken = i == 2;
      const auto before = copies(module->parameters());
      const auto rates = schedule.get_last_lr();
      const auto loss = some_loss(model, i);
      const auto value = loss.item<float>();
      accelerator.backward(loss);
      CHECK(loss.item<float>() == value);
      if (broken) module->output->weight.mutable_grad()[0][0] = INFINITY;
      accelerator.clip_grad_norm(model, 1);
      optimizer.step();
      schedule.step();
      optimizer.zero_grad();
      CHECK(optimizer.step_was_skipped() == broken);
      CHECK(accelerator.optimizer_step_was_skipped() == broken);
      CHECK(differing(before, module->parameters()).empty() == broken);
      CHECK((schedule.get_last_lr() == rates) == broken);
      CHECK(accelerator.scaler().scale() == (i == 1 ? 1024 : 512));
    }
    CHECK(optimizer.steps() == 2);
    accelerator.free_memory();
  }
}

TEST_CASE("training in fp16 equals itself with any scale, a power of two") {
  std::vector<Parameters> results;
  std::vector<double> norms;
  for (const double scale : {1.0, 256.0, 8192.0}) {
    Accelerator accelerator(fp16(scale, 3));
    torch::manual_seed(3);
    auto module = std::make_shared<Mlp>();
    auto [model, optimizer] =
        accelerator.prepare(module, torch::optim::AdamW(module->parameters(), 0.01));
    double norm = 0;
    for (int i = 0; i < 6; ++i) {
      accelerator.backward(some_loss(model, i));
      norm += accelerator.clip_grad_norm(model, 0.1);
      optimizer.step();
      optimizer.zero_grad();
    }
    CHECK(accelerator.scaler().scale() == 4 * scale);
    results.push_back(copies(module->parameters()));
    norms.push_back(norm);
  }
  // Where nothing of the backward falls out of float16's range; a scale of 1 may lose some.
  CHECK(differing(results[1], results[2]).empty());
  CHECK(norms[1] == norms[2]);
  CHECK(differing(results[0], results[2], 1e-2).empty());
}

TEST_CASE("clipping on every micro-step: only the window's end clips, and nothing is skipped") {
  auto options = fp16();
  options.gradient_accumulation_steps = 4;
  Accelerator accelerator(options);
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.1));
  for (int i = 0; i < 12; ++i) {
    const auto scope = accelerator.accumulate(model);
    const bool due = scope.synchronises();
    accelerator.backward(some_loss(model, i));
    CHECK(std::isnan(accelerator.clip_grad_norm(model, 1e-3)) != due);
    if (i == 7) module->output->bias.mutable_grad().fill_(NAN);
    if (due && i != 7) CHECK(accelerator.clip_grad_norm(model, 1e-3) <= 1.001e-3);
    optimizer.step();
    optimizer.zero_grad();
    // The bias was edited after the clipping had looked: the user's own affair.
    CHECK_FALSE(optimizer.step_was_skipped());
    if (i == 7) break;
  }
  CHECK(optimizer.steps() == 2);
}

TEST_CASE("a step that is not due is never told as skipped") {
  auto options = fp16();
  options.gradient_accumulation_steps = 4;
  Accelerator accelerator(options);
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.1));
  for (int i = 0; i < 12; ++i) {
    const auto scope = accelerator.accumulate(model);
    accelerator.backward(some_loss(model, i) * (i == 5 ? INFINITY : 1));
    optimizer.step();
    optimizer.zero_grad();
    CHECK(accelerator.optimizer_step_was_skipped() == (i == 7));
  }
  CHECK(optimizer.steps() == 2);
  CHECK(accelerator.scaler().scale() == 512);
}

TEST_CASE("gradients are the scale too large until they are unscaled, once") {
  Accelerator accelerator(fp16());
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.1));
  // Before any backward there is nothing to unscale, and no reason to throw.
  accelerator.unscale_gradients();
  CHECK(accelerator.clip_grad_norm(model, 1) == 0);
  accelerator.backward(model(torch::ones({2, 8})).sum());
  const auto bias = [&] { return module->output->bias.grad()[0].item<float>(); };
  CHECK(bias() == 2 * 1024);
  accelerator.unscale_gradients(optimizer);
  CHECK(bias() == 2);
  accelerator.unscale_gradients();
  accelerator.clip_grad_value(model, 1);
  CHECK(bias() == 1);
  const auto before = module->output->bias.detach().clone();
  optimizer.step();
  CHECK(torch::allclose(module->output->bias, before - 0.1));
  // A step that the program leaves out: the next is right all the same.
  optimizer.zero_grad();
  accelerator.backward(model(torch::ones({2, 8})).sum());
  accelerator.clip_grad_norm(model, 1);
  optimizer.zero_grad();
  accelerator.backward(model(torch::ones({2, 8})).sum());
  accelerator.unscale_gradients();
  CHECK(bias() == 2);
}

TEST_CASE("what is added to gradients that were unscaled is unscaled too") {
  Accelerator accelerator(fp16());
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.1));
  const auto bias = [&] { return module->output->bias.grad()[0].item<float>(); };
  accelerator.backward(model(torch::ones({2, 8})).sum());
  accelerator.unscale_gradients();
  accelerator.scaler().load_state({256, 0});
  accelerator.backward(model(torch::ones({3, 8})).sum());
  CHECK(bias() == 5);
  accelerator.unscale_gradients();
  CHECK(bias() == 5);
}

TEST_CASE("a window keeps its gradients right when another optimizer moves the scale") {
  auto options = fp16(1024, 1);
  options.gradient_accumulation_steps = 2;
  Accelerator accelerator(options);
  auto first = std::make_shared<Mlp>(), second = std::make_shared<Mlp>();
  auto [a, b, one, two] =
      accelerator.prepare(first, second, torch::optim::SGD(first->parameters(), 1.0),
                          torch::optim::SGD(second->parameters(), 1.0));
  const auto before = first->output->bias.detach().clone();
  const auto x = torch::ones({1, 8});
  {
    const auto scope = accelerator.accumulate(a);
    accelerator.backward(a(x).sum());
  }
  for (int i = 0; i < 2; ++i) {
    const auto scope = accelerator.accumulate(b);
    accelerator.backward(b(x).sum());
    two.step();
    two.zero_grad();
  }
  CHECK(accelerator.scaler().scale() == 2048);
  const auto scope = accelerator.accumulate(a);
  accelerator.backward(3 * a(x).sum());
  one.step();
  CHECK(torch::equal(first->output->bias, before - 2));
  CHECK(one.steps() == 1);
}

TEST_CASE("two optimizers of one iteration: the second's gradients keep their scale") {
  Accelerator accelerator(fp16(1024, 1));
  auto first = std::make_shared<Mlp>(), second = std::make_shared<Mlp>();
  auto [a, b, one, two] =
      accelerator.prepare(first, second, torch::optim::SGD(first->parameters(), 1.0),
                          torch::optim::SGD(second->parameters(), 1.0));
  const auto before = second->output->bias.detach().clone();
  const auto x = torch::ones({1, 8});
  accelerator.backward(a(x).sum() + b(x).sum());
  one.step();
  CHECK(accelerator.scaler().scale() == 2048);
  two.step();
  CHECK(torch::equal(second->output->bias, before - 1));
}

TEST_CASE("a backward by hand is not scaled, and step() knows") {
  Accelerator accelerator(fp16());
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 1.0));
  const auto before = module->output->bias.detach().clone();
  model(torch::ones({1, 8})).sum().backward();
  optimizer.step();
  CHECK(torch::equal(module->output->bias, before - 1));
}

TEST_CASE("too many skips in a row end training with the parameter's name") {
  auto options = fp16(4);
  options.grad_scaler.max_skips = 3;
  Accelerator accelerator(options);
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.1));
  const auto step = [&, &model = model, &optimizer = optimizer](double factor) {
    accelerator.backward(some_loss(model, 1) + factor * module->output->bias.sum());
    optimizer.step();
    optimizer.zero_grad();
  };
  step(1);
  step(INFINITY);
  step(INFINITY);
  step(1);
  step(INFINITY);
  step(INFINITY);
  const auto before = copies(module->parameters());
  CHECK_THROWS_MATCHES(
      step(INFINITY), NonFiniteError,
      MessageMatches(ContainsSubstring("step 3 ") && ContainsSubstring("3 times") &&
                     ContainsSubstring("'output.bias'") && ContainsSubstring("loss scale of 1 ")));
  CHECK(accelerator.scaler().scale() == 1);
  CHECK(differing(before, module->parameters()).empty());
  CHECK(accelerator.optimizer_step_was_skipped());
}

TEST_CASE("training goes on with a loaded scaler as if it had never ended") {
  const auto run = [](int restart_at) {
    auto accelerator = std::make_unique<Accelerator>(fp16(1024, 2));
    torch::manual_seed(3);
    auto module = std::make_shared<Mlp>();
    for (int i = 0; i < 11; ++i) {
      if (i == restart_at) {
        const auto state = accelerator->scaler().state();
        accelerator = std::make_unique<Accelerator>(fp16(65536, 2));
        accelerator->scaler().load_state(state);
      }
      auto [model, optimizer] =
          accelerator->prepare(module, torch::optim::SGD(module->parameters(), 0.1));
      if (i == restart_at) CHECK_NOTHROW(accelerator->clip_grad_norm(model, 1));
      accelerator->backward(some_loss(model, i) * (i == 4 ? INFINITY : 1));
      optimizer.step();
      optimizer.zero_grad();
      accelerator->free_memory();
    }
    return std::pair(accelerator->scaler().state(), copies(module->parameters()));
  };
  const auto whole = run(-1), resumed = run(1);
  CHECK(whole.first == resumed.first);
  CHECK(whole.first.scale != 1024);
  CHECK(differing(whole.second, resumed.second).empty());
}

TEST_CASE("optimizers that evaluate their closure often are refused in fp16, with a reason") {
  Accelerator accelerator(fp16());
  auto module = std::make_shared<Mlp>();
  auto [model, search] =
      accelerator.prepare(module, torch::optim::LBFGS(module->parameters(), 1.0));
  CHECK_THROWS_MATCHES(search.step([&, &model = model] { return some_loss(model, 1); }),
                       muster::UnsupportedError,
                       MessageMatches(ContainsSubstring("fp16") && ContainsSubstring("bf16")));
  accelerator.free_memory();
  auto [again, sgd] = accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.1));
  const auto loss = sgd.step([&, &again = again, &sgd = sgd] {
    sgd.zero_grad();
    auto value = some_loss(again, 1);
    accelerator.backward(value);
    return value;
  });
  CHECK(loss.isfinite().item<bool>());
  CHECK(sgd.steps() == 1);
}
