// Run by `muster launch -n N`: every rank runs every case, in the same order.

#include <muster/accelerator.hpp>
#include <muster/error.hpp>

#include "nets.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <torch/torch.h>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using muster::Accelerator;
using muster::AcceleratorOptions;
using muster::test::copies;
using muster::test::differing;
using muster::test::Mlp;

namespace {

AcceleratorOptions options_of(const std::string& precision) {
  AcceleratorOptions options;
  options.mixed_precision = precision;
  options.grad_scaler.init_scale = 1024;
  options.grad_scaler.growth_interval = 3;
  return options;
}

bool equal_on_all(const Accelerator& accelerator, const std::vector<torch::Tensor>& tensors) {
  bool same = true;
  for (const auto& tensor : tensors) {
    const auto mine = tensor.detach().clone();
    same = torch::equal(accelerator.broadcast(mine.clone()), mine) && same;
  }
  return accelerator.reduce(torch::tensor(same ? 0 : 1)).item<std::int64_t>() == 0;
}

bool is_last(const Accelerator& accelerator) {
  return accelerator.process_index() + 1 == accelerator.num_processes();
}

/// Micro-batch `index` of all ranks.
torch::Tensor batch(std::int64_t index) {
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(100 + index);
  return torch::randn({4, 8}, generator);
}

/// The weights and norms of 12 steps whose micro-batches are those of `ranks` ranks, on one model.
/// `first` is this rank's, and each step has `micro_steps`.
std::vector<torch::Tensor> train(Accelerator& accelerator, int first, int micro_steps, int stride) {
  torch::manual_seed(9);
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::AdamW(module->parameters(), 0.01));
  std::vector<torch::Tensor> result;
  for (int step = 0; step < 12; ++step) {
    for (int i = 0; i < micro_steps; ++i) {
      const auto scope = accelerator.accumulate(model);
      const auto input = batch(step * stride + first + i);
      accelerator.backward(model(input).square().mean() * (step == 5 ? INFINITY : 1));
      const double norm = accelerator.clip_grad_norm(model, 0.2);
      if (scope.synchronises() && step != 5) result.push_back(torch::tensor(norm));
      optimizer.step();
      optimizer.zero_grad();
    }
  }
  for (const auto& parameter : module->parameters()) result.push_back(parameter.detach().clone());
  result.push_back(torch::tensor(accelerator.scaler().scale()));
  result.push_back(torch::tensor(static_cast<std::int64_t>(optimizer.steps())));
  return result;
}

}  // namespace

TEST_CASE("fp16: N ranks with one micro-step equal one process with N, overflow and clipping too") {
  const auto options = options_of("fp16");
  Accelerator many(options);
  const int ranks = many.num_processes();
  const auto theirs = train(many, many.process_index(), 1, ranks);
  // The same micro-batches in order; as all ranks do the same, the mean over them is that of one.
  auto alone = options;
  alone.gradient_accumulation_steps = ranks;
  Accelerator one(alone);
  const auto single = [&] {
    // Every rank computes all micro-batches: sums of N equal sums, divided by N times as many. N is
    // a power of two here, so this is exact.
    return train(one, 0, ranks, ranks);
  }();
  if (ranks != 3) CHECK(differing(theirs, single).empty());
  CHECK(equal_on_all(many, theirs));
  CHECK(theirs.back().item<std::int64_t>() == 11);
}

TEST_CASE("an overflow on one rank skips the step on all, and scales stay equal") {
  Accelerator accelerator(options_of("fp16"));
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::AdamW(module->parameters(), 0.01));
  for (int i = 0; i < 4; ++i) {
    const bool broken = i == 1;
    const auto before = copies(module->parameters());
    const bool here = broken && is_last(accelerator);
    accelerator.backward(model(batch(i)).sum() * (here ? INFINITY : 1));
    optimizer.step();
    optimizer.zero_grad();
    CHECK(optimizer.step_was_skipped() == broken);
    CHECK(accelerator.optimizer_step_was_skipped() == broken);
    CHECK(differing(before, module->parameters()).empty() == broken);
    CHECK(accelerator.scaler().scale() == (i == 0 ? 1024 : 512));
  }
  CHECK(optimizer.steps() == 3);
  CHECK(equal_on_all(accelerator, module->parameters()));
}

TEST_CASE("what one rank alone makes of its gradients is agreed on") {
  Accelerator accelerator(options_of("fp16"));
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.1));
  accelerator.backward(model(batch(1)).sum());
  if (is_last(accelerator)) module->output->bias.mutable_grad().fill_(NAN);
  optimizer.step();
  CHECK(optimizer.step_was_skipped());
  CHECK(equal_on_all(accelerator, module->parameters()));
}

TEST_CASE("the error after too many skips names the parameter and the rank, on all ranks") {
  auto options = options_of("fp16");
  options.grad_scaler.max_skips = 2;
  Accelerator accelerator(options);
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.1));
  const int last = accelerator.num_processes() - 1;
  const auto step = [&, &model = model, &optimizer = optimizer] {
    const double factor = is_last(accelerator) ? INFINITY : 1;
    accelerator.backward(model(batch(1)).sum() + factor * module->hidden->bias.sum());
    optimizer.step();
    optimizer.zero_grad();
  };
  step();
  const auto rank = last == 0
                        ? std::string()
                        : " on rank " + std::to_string(last) + " of " + std::to_string(last + 1);
  CHECK_THROWS_MATCHES(step(), muster::NonFiniteError,
                       MessageMatches(ContainsSubstring("'hidden.bias'" + rank + ". Look") &&
                                      ContainsSubstring("step 1 was tried 2 times")));
  accelerator.wait_for_everyone();
}

TEST_CASE("a rank that leaves a window moves no scale, and takes part in the next") {
  Accelerator accelerator(options_of("fp16"));
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.1));
  const bool several = accelerator.num_processes() > 1;
  for (int i = 0; i < 3; ++i) {
    const auto scope = accelerator.accumulate(model);
    if (is_last(accelerator) && several && i == 1) continue;
    accelerator.backward(model(batch(i)).sum());
    accelerator.clip_grad_norm(model, 1);
    optimizer.step();
    optimizer.zero_grad();
    CHECK(optimizer.step_was_skipped() == (several && i == 1));
  }
  CHECK(accelerator.scaler().state().growth_tracker == (several ? 2 : 0));
  CHECK(accelerator.scaler().scale() == (several ? 1024 : 2048));
  CHECK(equal_on_all(accelerator, module->parameters()));
}

TEST_CASE("ranks with another precision, or another scale, are told on all ranks") {
  {
    Accelerator accelerator(options_of("bf16"));
    if (accelerator.num_processes() == 1) return;
    Accelerator other(options_of(is_last(accelerator) ? "bf16" : "no"));
    CHECK_THROWS_MATCHES(other.prepare(std::make_shared<Mlp>()), muster::ModelError,
                         MessageMatches(ContainsSubstring("mixed precision bf16") &&
                                        ContainsSubstring("mixed precision no")));
  }
  Accelerator accelerator(options_of("fp16"));
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.1));
  if (is_last(accelerator)) accelerator.scaler().load_state({256, 0});
  CHECK_THROWS_MATCHES(accelerator.backward(model(batch(1)).sum()), muster::ModelError,
                       MessageMatches(ContainsSubstring("different scales")));
}
