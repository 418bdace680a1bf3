// bf16 and fp16 in one process: what models compute in, and what they return.

#include <muster/accelerator.hpp>
#include <muster/error.hpp>

#include "nets.hpp"

#include <ATen/autocast_mode.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <torch/script.h>
#include <torch/torch.h>

#include <fstream>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using muster::Accelerator;
using muster::test::copies;
using muster::test::differing;
using muster::test::Mlp;

namespace {

bool casts() { return at::autocast::is_autocast_enabled(at::kCPU); }

/// What a matrix product gives here.
at::ScalarType product_dtype() {
  return torch::mm(torch::ones({2, 2}), torch::ones({2, 2})).scalar_type();
}

struct Own {
  torch::Tensor hidden;
};

/// Returns its output in many shapes.
struct Shapes : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) { return linear(x); }
  std::tuple<torch::Tensor, int, std::optional<torch::Tensor>> parts(const torch::Tensor& x) {
    return {linear(x), 3, std::nullopt};
  }
  std::map<std::string, std::vector<torch::Tensor>> named(const torch::Tensor& x) {
    return {{"a", {linear(x), torch::Tensor(), torch::ones({1}, torch::kLong)}}};
  }
  Own own(const torch::Tensor& x) { return {linear(x)}; }
  [[noreturn]] torch::Tensor fails() { throw std::runtime_error("on purpose"); }
  torch::nn::Linear linear = register_module("linear", torch::nn::Linear(8, 8));
};

std::int64_t resident_pages() {
  std::int64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident;
}

}  // namespace

TEST_CASE("a model computes in the dtype of mixed_precision and returns fp32") {
  const std::string precision = GENERATE("no", "bf16", "fp16");
  Accelerator accelerator({.mixed_precision = precision});
  CHECK(accelerator.mixed_precision() == precision);
  CHECK_THAT(accelerator.describe(), ContainsSubstring(precision == "no" ? "fp32" : precision));
  torch::manual_seed(1);
  auto module = std::make_shared<Shapes>();
  const auto model = accelerator.prepare(module);
  const auto x = torch::randn({4, 8});
  const auto output = model(x);
  CHECK(output.scalar_type() == torch::kFloat);
  const auto dtype = precision == "bf16" ? torch::kBFloat16 : torch::kHalf;
  // Its values are those of the narrow dtype.
  CHECK(torch::equal(output, output.to(dtype).to(torch::kFloat)) == (precision != "no"));
  CHECK(torch::allclose(output, module->forward(x), 0.05, 0.05));
  accelerator.backward(output.sum());
  CHECK(module->linear->weight.grad().scalar_type() == torch::kFloat);
  {
    const torch::NoGradGuard no_grad;
    CHECK(model(x).scalar_type() == torch::kFloat);
  }
  CHECK_FALSE(casts());
}

TEST_CASE("outputs become fp32 in standard containers, and a struct of the program's stays") {
  Accelerator accelerator({.mixed_precision = "bf16"});
  auto module = std::make_shared<Shapes>();
  const auto model = accelerator.prepare(module);
  const auto x = torch::ones({2, 8});
  const auto [output, number, none] = model.run([&](Shapes& net) { return net.parts(x); });
  CHECK(output.scalar_type() == torch::kFloat);
  CHECK(number == 3);
  CHECK_FALSE(none.has_value());
  const auto named = model.run([&] { return module->named(x); });
  CHECK(named.at("a")[0].scalar_type() == torch::kFloat);
  CHECK_FALSE(named.at("a")[1].defined());
  CHECK(named.at("a")[2].scalar_type() == torch::kLong);
  CHECK(model.run([&](Shapes& net) { return net.own(x); }).hidden.scalar_type() ==
        torch::kBFloat16);
  model.run([&](Shapes& net) { net.linear->weight.sum(); });
}

TEST_CASE("a module from TorchScript computes so too, and its tuples and lists are fp32") {
  Accelerator accelerator({.mixed_precision = "bf16"});
  torch::jit::Module script("net");
  script.register_parameter("weight", torch::randn({8, 8}).requires_grad_(), false);
  script.define(
      "def forward(self, x: Tensor):\n"
      "  y = torch.matmul(x, self.weight)\n"
      "  return y, [y, x], {'y': y}, 3\n");
  const auto model = accelerator.prepare(script);
  for (int i = 0; i < 3; ++i) {
    const auto result = model(torch::ones({2, 8})).toTuple()->elements();
    const auto y = result[0].toTensor();
    CHECK(y.scalar_type() == torch::kFloat);
    CHECK(torch::equal(y, y.to(torch::kBFloat16).to(torch::kFloat)));
    CHECK(result[1].toTensorVector()[0].scalar_type() == torch::kFloat);
    CHECK(result[2].toGenericDict().at("y").toTensor().scalar_type() == torch::kFloat);
    CHECK(result[3].toInt() == 3);
    accelerator.backward(y.sum());
  }
  CHECK(script.attr("weight").toTensor().grad().scalar_type() == torch::kFloat);
}

TEST_CASE("autocast guards nest, can be switched off inside, and restore what was") {
  Accelerator accelerator({.mixed_precision = "bf16"});
  CHECK(product_dtype() == torch::kFloat);
  try {
    const auto outer = accelerator.autocast();
    CHECK(product_dtype() == torch::kBFloat16);
    {
      const auto off = accelerator.autocast(false);
      CHECK(product_dtype() == torch::kFloat);
      const auto inner = accelerator.autocast();
      CHECK(product_dtype() == torch::kBFloat16);
    }
    CHECK(product_dtype() == torch::kBFloat16);
    throw std::runtime_error("on purpose");
  } catch (const std::runtime_error&) {
    CHECK(product_dtype() == torch::kFloat);
  }
  auto module = std::make_shared<Shapes>();
  const auto model = accelerator.prepare(module);
  CHECK_THROWS_AS(model.run([](Shapes& net) { return net.fails(); }), std::runtime_error);
  CHECK_FALSE(casts());
  const Accelerator plain({.mixed_precision = "no"});
  const auto nothing = plain.autocast();
  CHECK(product_dtype() == torch::kFloat);
}

TEST_CASE("a forward after a step sees the new weights, under one guard around the loop too") {
  const bool around = GENERATE(false, true);
  Accelerator accelerator({.mixed_precision = "bf16"});
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.5));
  const auto x = torch::ones({4, 8});
  const auto guard = accelerator.autocast(around);
  for (int i = 0; i < 3; ++i) {
    {
      // What an evaluation casts must not cut the training forward off from its weights.
      const torch::NoGradGuard no_grad;
      CHECK(model(x).defined());
    }
    const auto before = model(x);
    accelerator.backward(before.square().mean());
    CHECK(module->hidden->weight.grad().defined());
    optimizer.step();
    optimizer.zero_grad();
    CHECK_FALSE(torch::equal(before, model(x)));
  }
}

TEST_CASE("backward runs outside of an open guard") {
  Accelerator accelerator({.mixed_precision = "bf16"});
  struct Watch : torch::autograd::Function<Watch> {
    static torch::Tensor forward(torch::autograd::AutogradContext*, const torch::Tensor& x) {
      return x.clone();
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                   torch::autograd::variable_list gradients) {
      CHECK_FALSE(casts());
      return gradients;
    }
  };
  auto module = std::make_shared<Mlp>();
  const auto model = accelerator.prepare(module);
  const auto guard = accelerator.autocast();
  accelerator.backward(Watch::apply(model(torch::ones({2, 8}))).sum());
  CHECK(casts());
}

TEST_CASE("bf16 has no scale and skips nothing; clipping is as in fp32") {
  Accelerator accelerator({.mixed_precision = "bf16"});
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.1));
  CHECK(accelerator.scaler().scale() == 1);
  accelerator.backward(model(torch::ones({2, 8})).sum());
  const auto gradients = copies({module->hidden->weight.grad(), module->hidden->bias.grad(),
                                 module->output->weight.grad(), module->output->bias.grad()});
  double squares = 0;
  for (const auto& gradient : gradients) squares += gradient.square().sum().item<double>();
  CHECK(std::abs(accelerator.clip_grad_norm(model, 0.5) - std::sqrt(squares)) < 1e-4);
  module->hidden->bias.mutable_grad()[0] = INFINITY;
  optimizer.step();
  CHECK_FALSE(accelerator.optimizer_step_was_skipped());
  CHECK(optimizer.steps() == 1);
  CHECK_FALSE(module->hidden->bias.isfinite().all().item<bool>());
}

TEST_CASE("memory is flat after some steps of bf16 and fp16") {
  const std::string precision = GENERATE("bf16", "fp16");
  Accelerator accelerator({.mixed_precision = precision});
  auto module = std::make_shared<Mlp>(512);
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::AdamW(module->parameters(), 1e-4));
  std::int64_t early = 0;
  for (int i = 0; i < 300; ++i) {
    accelerator.backward(model(torch::randn({16, 8})).square().mean());
    accelerator.clip_grad_norm(model, 1);
    optimizer.step();
    optimizer.zero_grad();
    if (i == 50) early = resident_pages();
  }
  // A leak of one narrow copy of the weights a step would be 250 * 6 KiB * 2.
  CHECK((resident_pages() - early) * 4096 < 1 << 20);
}

TEST_CASE("what cannot be trained in fp16 is refused when it is prepared") {
  Accelerator accelerator({.mixed_precision = "fp16"});
  auto module = std::make_shared<Mlp>();
  module->output->to(torch::kHalf);
  CHECK_THROWS_MATCHES(
      accelerator.prepare(module), muster::ModelError,
      MessageMatches(ContainsSubstring("'output.weight'") && ContainsSubstring("float16") &&
                     ContainsSubstring("torch::kFloat")));
  for (auto& parameter : module->output->parameters()) parameter.requires_grad_(false);
  const auto model = accelerator.prepare(module);
  accelerator.backward(model(torch::ones({2, 8})).sum());
  CHECK(module->hidden->weight.grad().scalar_type() == torch::kFloat);
  for (const char* other : {"fp8", "int8", "fp32"}) {
    CHECK_THROWS_MATCHES(
        Accelerator({.mixed_precision = other}), muster::ConfigError,
        MessageMatches(ContainsSubstring("mixed_precision") &&
                       ContainsSubstring("no, bf16 or fp16") && ContainsSubstring("fp8")));
  }
}
