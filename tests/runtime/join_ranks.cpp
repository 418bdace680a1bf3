// Run by `muster launch -n N`: every rank runs every case, in the same order.

#include <muster/accelerator.hpp>
#include <muster/data_loader.hpp>
#include <muster/error.hpp>
#include <muster/simple_schedules.hpp>

#include "nets.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

/// Batches of rank r: as many as its share of {5, 3, 1}, of one sample each.
int batches_of(int rank) { return std::vector{5, 3, 1}[static_cast<std::size_t>(rank % 3)]; }

torch::Tensor input(int rank, int batch) {
  const auto generator =
      at::make_generator<at::CPUGeneratorImpl>(static_cast<std::uint64_t>(100 * rank + batch));
  return torch::randn({1, 8}, generator);
}

/// This rank's batches, as a stream of its own.
auto own_stream(int rank) {
  return [rank](const EpochStart&) {
    return [rank, next = 0]() mutable -> std::optional<at::Tensor> {
      if (next == batches_of(rank)) return std::nullopt;
      return input(rank, next++)[0];
    };
  };
}

torch::Tensor loss_of(const torch::Tensor& output) { return (output - 1).square().mean(); }

bool equal_on_all(const Accelerator& accelerator, const std::vector<torch::Tensor>& tensors) {
  bool same = true;
  for (const auto& tensor : tensors) {
    const auto mine = tensor.detach().clone();
    same = torch::equal(accelerator.broadcast(mine.clone()), mine) && same;
  }
  return accelerator.reduce(torch::tensor(same ? 0 : 1)).item<std::int64_t>() == 0;
}

std::shared_ptr<Mlp> some_module() {
  torch::manual_seed(3);
  return std::make_shared<Mlp>();
}

}  // namespace

TEST_CASE("ranks without a batch follow the others: the gradients of those that have one count") {
  for (const int accumulate : {1, 2}) {
    CAPTURE(accumulate);
    Accelerator accelerator({.gradient_accumulation_steps = accumulate});
    const int ranks = accelerator.num_processes();
    auto module = some_module();
    auto [model, optimizer, scheduler, loader] =
        accelerator.prepare(module, torch::optim::AdamW(module->parameters(), 0.05),
                            StepLR{.step_size = 2, .gamma = 0.5},
                            DataLoader(own_stream(accelerator.process_index()), {.sharded = true}));
    int batches = 0;
    accelerator.join_uneven_inputs([&] {
      for (auto& batch : loader) {
        const auto scope = accelerator.accumulate(model);
        accelerator.backward(loss_of(model(batch)));
        accelerator.clip_grad_norm(model, 0.3);
        accelerator.clip_grad_norm(model, {module->output->weight}, 0.1);
        accelerator.clip_grad_value(model, 0.2);
        optimizer.step();
        scheduler.step();
        optimizer.zero_grad();
        ++batches;
      }
    });
    CHECK(batches == batches_of(accelerator.process_index()));

    auto reference = some_module();
    torch::optim::AdamW adamw(reference->parameters(), 0.05);
    int updates = 0;
    for (int first = 0; first < 5; first += accumulate) {
      adamw.zero_grad();
      int count = 0;
      for (int step = first; step < std::min(5, first + accumulate); ++step) {
        for (int rank = 0; rank < ranks; ++rank) {
          if (step >= batches_of(rank)) continue;
          loss_of(reference->forward(input(rank, step))).backward();
          ++count;
        }
      }
      for (auto& parameter : reference->parameters()) parameter.mutable_grad().div_(count);
      torch::nn::utils::clip_grad_norm_(reference->parameters(), 0.3);
      torch::nn::utils::clip_grad_norm_(reference->output->weight, 0.1);
      torch::nn::utils::clip_grad_value_(reference->parameters(), 0.2);
      for (auto& group : adamw.param_groups()) {
        group.options().set_lr(0.05 * std::pow(0.5, updates / 2));
      }
      adamw.step();
      ++updates;
    }
    CHECK(optimizer.steps() == static_cast<std::uint64_t>(updates));
    CHECK(differing(module->parameters(), reference->parameters(), 1e-4).empty());
    CHECK(equal_on_all(accelerator, module->parameters()));
  }
}

TEST_CASE("buffers and batch norm follow, and training goes on afterwards") {
  Accelerator accelerator;
  auto module = std::make_shared<Normed>();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.1));
  auto train = [&, model = model, optimizer = optimizer](int steps) mutable {
    for (int i = 0; i < steps; ++i) {
      accelerator.backward(model(torch::randn({4, 8})).square().mean());
      optimizer.step();
      optimizer.zero_grad();
    }
  };
  torch::manual_seed(static_cast<std::uint64_t>(accelerator.process_index()));
  for (int epoch = 0; epoch < 3; ++epoch) {
    // Rank 0, whose buffers all get, is among those that run out first.
    accelerator.join_uneven_inputs([&] { train(1 + accelerator.process_index()); });
    CHECK(equal_on_all(accelerator, module->parameters()));
  }
  train(2);
  CHECK(equal_on_all(accelerator, module->parameters()));
  CHECK(optimizer.steps() == static_cast<std::uint64_t>(3 * accelerator.num_processes() + 2));
}

TEST_CASE("a rank without any batch takes part") {
  Accelerator accelerator;
  auto module = some_module();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.1));
  const auto before = copies(module->parameters());
  accelerator.join_uneven_inputs([&] {
    if (accelerator.process_index() > 0) return;
    accelerator.backward(loss_of(model(torch::ones({1, 8}))));
    optimizer.step();
  });
  CHECK_FALSE(differing(before, module->parameters()).empty());
  CHECK(equal_on_all(accelerator, module->parameters()));
  accelerator.join_uneven_inputs([] {});
}

TEST_CASE("even_batches can be chosen for the joined loop") {
  Accelerator accelerator;
  auto loader = accelerator.prepare(
      DataLoader(TensorDataset(torch::arange(7), torch::arange(7)), {.batch_size = 2}));
  std::int64_t samples = 0;
  const auto count = [&] {
    samples = 0;
    for (auto& batch : loader) samples += batch.data.size(0);
  };
  accelerator.join_uneven_inputs(count, false);
  CHECK(accelerator.reduce(torch::tensor(samples)).item<std::int64_t>() == 7);
  accelerator.join_uneven_inputs(count);
  const std::int64_t round = 2 * accelerator.num_processes();
  const std::int64_t even = accelerator.num_processes() == 1 ? 7 : (7 + round - 1) / round * round;
  CHECK(accelerator.reduce(torch::tensor(samples)).item<std::int64_t>() == even);
}

TEST_CASE("an exception in one rank's loop is told to the others") {
  Accelerator accelerator;
  auto module = some_module();
  auto [model, optimizer] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.1));
  const int last = accelerator.num_processes() - 1;
  const bool fails = accelerator.process_index() == last;
  const auto loop = [&] {
    accelerator.join_uneven_inputs([&] {
      if (fails) throw std::runtime_error("mine");
      accelerator.backward(loss_of(model(torch::ones({1, 8}))));
      optimizer.step();
    });
  };
  const std::string expected = fails ? "mine" : "loop of rank " + std::to_string(last);
  CHECK_THROWS_WITH(loop(), ContainsSubstring(expected));
  // The ranks can go on.
  CHECK(accelerator.reduce(torch::tensor(1)).item<std::int64_t>() == accelerator.num_processes());
}

TEST_CASE("what a rank that follows cannot do is told to the others") {
  Accelerator accelerator;
  if (accelerator.num_processes() == 1) return;
  auto module = some_module();
  std::optional prepared =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 0.1), ConstantLR{});
  const int last = accelerator.num_processes() - 1;
  const bool follows = accelerator.process_index() == last;
  const auto loop = [&] {
    accelerator.join_uneven_inputs([&] {
      if (follows) {
        prepared.reset();
        return;
      }
      auto& [model, optimizer, scheduler] = *prepared;
      accelerator.backward(loss_of(model(torch::ones({1, 8}))));
      optimizer.step();
      scheduler.step();
    });
  };
  const std::string expected = follows ? "has let go of" : "loop of rank " + std::to_string(last);
  CHECK_THROWS_WITH(loop(), ContainsSubstring(expected));
  CHECK(accelerator.reduce(torch::tensor(1)).item<std::int64_t>() == accelerator.num_processes());
}

TEST_CASE("ranks that do different things with a batch are told, and nesting is refused") {
  Accelerator accelerator;
  CHECK_THROWS_AS(accelerator.join_uneven_inputs([&] { accelerator.join_uneven_inputs([] {}); }),
                  ConfigError);
  if (accelerator.num_processes() == 1) return;
  auto module = some_module();
  auto model = accelerator.prepare(module);
  const auto loop = [&] {
    accelerator.join_uneven_inputs([&] {
      if (accelerator.process_index() == 1) {
        accelerator.clip_grad_value(model, 1.0);
      } else {
        accelerator.backward(loss_of(module->forward(torch::ones({1, 8}))));
      }
    });
  };
  CHECK_THROWS_MATCHES(loop(), ModelError,
                       MessageMatches(ContainsSubstring("rank 1 clips by value") &&
                                      ContainsSubstring("rank 0 runs a backward")));
}

}  // namespace muster::test
