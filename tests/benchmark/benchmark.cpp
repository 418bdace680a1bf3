// benchmark loop MODEL OPTIMIZER STEPS: a step through Accelerator and the same by hand on
// LibTorch, in turn. benchmark train MODEL STEPS: a training step on the ranks that started this.
// benchmark timer STEPS: what StepTimer costs a step.
// benchmark precision STEPS: a step of a transformer in fp32 and in bf16, in turn.
// benchmark loader WORKERS EPOCHS: a DataLoader over tensors in memory. benchmark prefetch STEPS: a
// reader that takes as long as the step. benchmark collectives COMMUNICATOR REPEATS BYTES...: of
// the ranks that started this. Each prints one JSON line, on rank 0.

#include <muster/accelerator.hpp>
#include <muster/step_timer.hpp>

#include "collectives_benchmark.hpp"
#include "loader_benchmark.hpp"
#include "models.hpp"
#include "precision.hpp"
#include "timing.hpp"

#include <torch/torch.h>

#include <cstdio>
#include <functional>
#include <iostream>
#include <span>
#include <string>

namespace {

using muster::benchmark::median;
using muster::benchmark::time_ms;
using muster::benchmark::Workload;

constexpr int warm_up = 5;

struct Batches {
  Batches(const Workload& workload, int rank)
      : shape(workload.shape), generator(at::make_generator<at::CPUGeneratorImpl>(1 + rank)) {}
  std::pair<torch::Tensor, torch::Tensor> next() {
    return {torch::randn(shape, generator),
            torch::randint(10, {shape[0]}, generator, torch::kLong)};
  }
  std::vector<std::int64_t> shape;
  at::Generator generator;
};

std::unique_ptr<torch::optim::Optimizer> make_optimizer(
    const std::string& name, const std::vector<torch::Tensor>& parameters) {
  if (name == "sgd") return std::make_unique<torch::optim::SGD>(parameters, 1e-3);
  if (name == "adamw") return std::make_unique<torch::optim::AdamW>(parameters, 1e-3);
  throw std::invalid_argument("no optimizer '" + name + "'; there are sgd, adamw");
}

torch::Tensor loss_of(const torch::Tensor& output, const torch::Tensor& target) {
  return torch::nn::functional::cross_entropy(output, target);
}

/// A training step by hand.
std::function<double()> by_hand(const Workload& workload, const std::string& optimizer_name) {
  auto model = workload.model;
  std::shared_ptr<torch::optim::Optimizer> optimizer =
      make_optimizer(optimizer_name, model->parameters());
  return [model, optimizer, batches = Batches(workload, 0)]() mutable {
    const auto [input, target] = batches.next();
    return time_ms([&, input = input, target = target] {
      const auto loss = loss_of(model->forward(input), target);
      loss.backward();
      optimizer->step();
      optimizer->zero_grad();
    });
  };
}

/// The same through an Accelerator.
std::function<double()> accelerated(muster::Accelerator& accelerator, const Workload& workload,
                                    const std::string& optimizer_name) {
  auto [model, optimizer] = accelerator.prepare(
      workload.model, make_optimizer(optimizer_name, workload.model->parameters()));
  return [&accelerator, model = model, optimizer = optimizer,
          batches = Batches(workload, accelerator.process_index())]() mutable {
    const auto [input, target] = batches.next();
    return time_ms([&, input = input, target = target] {
      const auto step = accelerator.accumulate(model);
      const auto loss = loss_of(model(input), target);
      accelerator.backward(loss);
      optimizer.step();
      optimizer.zero_grad();
    });
  };
}

void compare_loops(const std::string& model, const std::string& optimizer, int steps) {
  muster::Accelerator accelerator;
  const Workload ours(model), theirs(model);
  auto step = accelerated(accelerator, ours, optimizer), hand_step = by_hand(theirs, optimizer);
  std::vector<double> times, hand_times;
  for (int i = 0; i < warm_up + steps; ++i) {
    // In turn, and first in turn too, so that neither profits from what the machine does meanwhile.
    const double first = i % 2 == 0 ? step() : hand_step();
    const double second = i % 2 == 0 ? hand_step() : step();
    if (i < warm_up) continue;
    times.push_back(i % 2 == 0 ? first : second);
    hand_times.push_back(i % 2 == 0 ? second : first);
  }
  std::vector<double> ratios;
  for (std::size_t i = 0; i < times.size(); ++i) ratios.push_back(times[i] / hand_times[i]);
  std::printf(R"({"ms": %.4f, "by_hand_ms": %.4f, "ratio": %.4f, "steps": %d})"
              "\n",
              median(times), median(hand_times), median(ratios), steps);
}

void train(const std::string& model, int steps) {
  muster::Accelerator accelerator;
  const Workload workload(model);
  auto step = accelerated(accelerator, workload, "adamw");
  std::vector<double> times;
  for (int i = 0; i < warm_up + steps; ++i) {
    const double ms = step();
    if (i >= warm_up) times.push_back(ms);
  }
  char line[128];
  std::snprintf(line, sizeof line, R"({"ms": %.4f, "ranks": %d, "steps": %d})", median(times),
                accelerator.num_processes(), steps);
  accelerator.print(line);
}

/// A step with as many waits as one of 20 buckets, a batch and an update, and nothing else.
void cost_of_timer(int steps) {
  muster::Accelerator accelerator;
  muster::StepTimer timer(accelerator);
  constexpr int waits = 22;
  std::vector<double> costs;
  for (int i = 0; i < warm_up + steps; ++i) {
    const double ms = time_ms([&] {
      for (int wait = 0; wait < waits; ++wait) {
        const muster::SpendingTime waiting(&muster::TimeSpent::communication);
      }
      timer.step();
    });
    if (i >= warm_up) costs.push_back(ms);
  }
  std::printf(R"({"us": %.4f, "percent_of_10_ms": %.5f, "steps": %d})"
              "\n",
              1000 * median(costs), 10 * median(costs), steps);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 4 && arguments[0] == "loop") {
    compare_loops(arguments[1], arguments[2], std::stoi(arguments[3]));
  } else if (arguments.size() == 3 && arguments[0] == "train") {
    train(arguments[1], std::stoi(arguments[2]));
  } else if (arguments.size() == 2 && arguments[0] == "timer") {
    cost_of_timer(std::stoi(arguments[1]));
  } else if (arguments.size() == 2 && arguments[0] == "precision") {
    muster::benchmark::compare_precisions(std::stoi(arguments[1]));
  } else if (arguments.size() == 3 && arguments[0] == "loader") {
    muster::benchmark::measure_loader(std::stoi(arguments[1]), std::stoi(arguments[2]));
  } else if (arguments.size() == 2 && arguments[0] == "prefetch") {
    muster::benchmark::measure_prefetch(std::stoi(arguments[1]));
  } else if (arguments.size() >= 4 && arguments[0] == "collectives") {
    std::vector<std::int64_t> sizes;
    for (std::size_t i = 3; i < arguments.size(); ++i) sizes.push_back(std::stoll(arguments[i]));
    muster::benchmark::measure_collectives(arguments[1], std::stoi(arguments[2]), sizes);
  } else {
    std::cerr
        << "usage: benchmark loop MODEL OPTIMIZER STEPS | train MODEL STEPS | loader WORKERS "
           "EPOCHS | prefetch STEPS | precision STEPS | timer STEPS | collectives COMMUNICATOR "
           "REPEATS BYTES...\n";
    return 2;
  }
} catch (const std::exception& error) {
  std::cerr << "benchmark: " << error.what() << '\n';
  return 1;
}
