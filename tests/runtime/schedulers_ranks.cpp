// Run by `muster launch -n N`: every rank runs every case, in the same order.

#include <muster/accelerator.hpp>
#include <muster/schedules.hpp>

#include "nets.hpp"

#include <catch2/catch_test_macros.hpp>
#include <torch/torch.h>

#include <cmath>

using muster::Accelerator;
using muster::test::Mlp;

TEST_CASE("a schedule takes as many steps as the optimizer, whatever the number of ranks") {
  Accelerator accelerator({.gradient_accumulation_steps = 2});
  auto module = std::make_shared<Mlp>();
  torch::optim::SGD sgd(module->parameters(), 0.1);
  const muster::CosineLR cosine{.total_iters = 100};
  auto [model, optimizer, scheduler] =
      accelerator.prepare(module, sgd, muster::Scheduler(sgd, cosine));
  for (int step = 0; step < 100; ++step) {
    CHECK(scheduler.get_last_lr().front() == cosine.rate(step, 0.1));
    for (int micro = 0; micro < 2; ++micro) {
      const auto scope = accelerator.accumulate(model);
      accelerator.backward(model(torch::ones({1, 8})).square().mean());
      optimizer.step();
      scheduler.step();
      optimizer.zero_grad();
    }
  }
  CHECK(scheduler.steps() == 100);
}

TEST_CASE("a step that was skipped moves no schedule, on no rank") {
  Accelerator accelerator;
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer, scheduler] = accelerator.prepare(
      module, torch::optim::SGD(module->parameters(), 0.1), muster::ExponentialLR{.gamma = 0.5});
  for (int step = 0; step < 4; ++step) {
    const auto scope = accelerator.accumulate(model);
    // Alone, a step that no backward precedes has nothing to skip.
    const bool leaves = step == 1 &&
                        accelerator.process_index() == accelerator.num_processes() - 1 &&
                        accelerator.num_processes() > 1;
    if (leaves) continue;
    accelerator.backward(model(torch::ones({1, 8})).square().mean());
    optimizer.step();
    scheduler.step();
    optimizer.zero_grad();
  }
  CHECK(scheduler.steps() == (accelerator.num_processes() > 1 ? 3 : 4));
  CHECK(scheduler.get_last_lr().front() == 0.1 * std::pow(0.5, scheduler.steps()));
}

TEST_CASE("a plateau sees the mean over the ranks, so that all reduce together") {
  Accelerator accelerator;
  auto module = std::make_shared<Mlp>();
  auto [model, optimizer, scheduler] =
      accelerator.prepare(module, torch::optim::SGD(module->parameters(), 1.0),
                          muster::ReduceLROnPlateau{.factor = 0.5, .patience = 0});
  const auto loss = [&, &model = model] { return model(torch::ones({1, 8})).square().mean(); };
  for (int step = 0; step < 3; ++step) {
    accelerator.backward(loss());
    optimizer.step();
    optimizer.zero_grad();
    // Alone, or as a mean, it gets better; rank 0's own does not.
    const bool worse = accelerator.num_processes() > 1 && accelerator.process_index() == 0;
    scheduler.step(worse ? 1.0 + 0.1 * step : 8.0 - step);
    scheduler.step(100.0);  // no update since: it does not count
  }
  CHECK(scheduler.get_last_lr().front() == 1.0);
  accelerator.backward(loss());
  optimizer.step();
  scheduler.step(50.0);
  const auto lr = scheduler.get_last_lr().front();
  CHECK(lr == 0.5);
  CHECK(accelerator.reduce(torch::tensor(lr)).item<double>() == 0.5 * accelerator.num_processes());
}
