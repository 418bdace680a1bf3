#pragma once

#include <muster/strategy.hpp>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace muster::test {

/// Normal numbers that depend on nothing but the arguments (threads share the default generator).
at::Tensor normal(at::IntArrayRef sizes, std::uint64_t seed);

/// A leaf with normal values.
at::Tensor leaf(at::IntArrayRef sizes, std::uint64_t seed);

/// A model of two layers with odd sizes, a scalar and an empty parameter, equal for equal seeds.
struct Toy {
  explicit Toy(std::uint64_t seed = 1);

  at::Tensor first, first_bias, scale, empty, second, second_bias;
  at::Tensor buffer;  ///< "running", fp32 [3].

  /// The loss on micro-batch `index`.
  at::Tensor loss(std::uint64_t index) const;
  ModelParts parts();
  std::vector<at::Tensor> parameters() const;
};

using MakeOptimizer =
    std::function<std::unique_ptr<torch::optim::Optimizer>(const std::vector<at::Tensor>&)>;

/// A strategy with a toy and an optimizer, as a rank has them.
struct Rig {
  Rig(const std::shared_ptr<Mesh>& mesh, const MakeOptimizer& make, StrategyOptions options = {});
  ~Rig();
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  Toy toy;
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  std::unique_ptr<Strategy> strategy;

  /// One announced micro-step on micro-batch `index`; returns the loss.
  double micro_step(std::uint64_t index, bool closing);
  void step();  ///< And zero_grad.
};

/// What a run left behind.
struct Outcome {
  std::vector<double> losses;  ///< Of all micro-batches that this rank saw.
  std::vector<double> norms;
  std::vector<at::Tensor> gradients;  ///< Of the last step, before it.
  std::vector<at::Tensor> weights;
  StrategyCounters counters;
};

/// Copies, undefined ones kept.
std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors);
std::vector<at::Tensor> gradients_of(const std::vector<at::Tensor>& parameters);
/// at::equal for each pair; undefined equals undefined.
bool all_equal(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b);
bool all_close(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b,
               double tolerance);

/// Bucket sizes to try: each parameter alone, some together, all in one.
StrategyOptions buckets(std::int64_t bytes);

MakeOptimizer make_sgd(double lr, double momentum = 0, double weight_decay = 0,
                       bool nesterov = false);
MakeOptimizer make_adam(double lr, bool amsgrad = false);
MakeOptimizer make_adamw(double lr);

}  // namespace muster::test
