#include "precision.hpp"

#include <muster/accelerator.hpp>

#include "gpt.hpp"
#include "timing.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace muster::benchmark {
namespace {

constexpr int warm_up = 3;

/// A training step in one precision.
class Trainer {
 public:
  explicit Trainer(const std::string& precision)
      : accelerator_({.mixed_precision = precision}),
        module_((torch::manual_seed(0), std::make_shared<Gpt>())),
        adamw_(module_->parameters(), 1e-3),
        model_(accelerator_.prepare(module_)),
        optimizer_(accelerator_.prepare(adamw_)) {}

  double step() {
    const auto [input, target] = Gpt::batch(generator_);
    return time_ms([&, input = input, target = target] {
      const auto output = model_(input);
      const auto loss = torch::nn::functional::cross_entropy(output.view({-1, Gpt::vocabulary}),
                                                             target.reshape({-1}));
      accelerator_.backward(loss);
      optimizer_.step();
      optimizer_.zero_grad();
    });
  }

 private:
  Accelerator accelerator_;
  std::shared_ptr<Gpt> module_;
  torch::optim::AdamW adamw_;
  muster::Model<Gpt> model_;
  Optimizer optimizer_;
  at::Generator generator_ = at::make_generator<at::CPUGeneratorImpl>(1);
};

}  // namespace

void compare_precisions(int steps) {
  Trainer full("no"), narrow("bf16");
  std::vector<double> full_ms, narrow_ms;
  for (int i = 0; i < warm_up + steps; ++i) {
    const double first = full.step(), second = narrow.step();
    if (i < warm_up) continue;
    full_ms.push_back(first);
    narrow_ms.push_back(second);
  }
  std::printf(R"({"fp32_ms": %.2f, "bf16_ms": %.2f, "ratio": %.4f, "steps": %d})"
              "\n",
              median(full_ms), median(narrow_ms), median(full_ms) / median(narrow_ms), steps);
}

}  // namespace muster::benchmark
