#include "toy.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <algorithm>

namespace muster::test {

at::Tensor normal(at::IntArrayRef sizes, std::uint64_t seed) {
  return at::randn(sizes, at::detail::createCPUGenerator(seed), at::TensorOptions());
}

at::Tensor leaf(at::IntArrayRef sizes, std::uint64_t seed) {
  return normal(sizes, seed).requires_grad_();
}

Toy::Toy(std::uint64_t seed)
    : first(leaf({5, 37}, seed)),
      first_bias(leaf({37}, seed + 1)),
      scale(leaf({}, seed + 2)),
      empty(leaf({0}, seed + 3)),
      second(leaf({37, 3}, seed + 4)),
      second_bias(leaf({3}, seed + 5)),
      buffer(normal({3}, seed + 6)) {}

at::Tensor Toy::loss(std::uint64_t index) const {
  const auto input = normal({4, 5}, 1000 + index);
  const auto target = normal({4, 3}, 5000 + index);
  const auto hidden = input.matmul(first).add(first_bias).tanh().mul(scale);
  const auto output = hidden.matmul(second).add(second_bias).add(empty.sum());
  return output.sub(target).square().mean();
}

ModelParts Toy::parts() {
  return {{{"first.weight", first},
           {"first.bias", first_bias},
           {"scale", scale},
           {"empty", empty},
           {"second.weight", second},
           {"second.bias", second_bias}},
          [this] {
            return std::vector<NamedTensor>{{"running", buffer}};
          }};
}

std::vector<at::Tensor> Toy::parameters() const {
  return {first, first_bias, scale, empty, second, second_bias};
}

Rig::Rig(const std::shared_ptr<Mesh>& mesh, const MakeOptimizer& make, StrategyOptions options)
    : toy(static_cast<std::uint64_t>(mesh->world().rank()) + 1),
      optimizer(make(toy.parameters())),
      strategy(make_data_parallel(mesh, std::move(options))) {
  strategy->prepare(toy.parts());
  strategy->attach(*optimizer);
}

Rig::~Rig() = default;

double Rig::micro_step(std::uint64_t index, bool closing) {
  strategy->begin_forward();
  strategy->begin_micro_step(closing);
  auto loss = toy.loss(index);
  loss.backward();
  strategy->end_micro_step();
  return loss.item<double>();
}

void Rig::step() {
  strategy->step(*optimizer);
  strategy->zero_grad(optimizer.get());
}

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> result;
  for (const auto& tensor : tensors) {
    result.push_back(tensor.defined() ? tensor.detach().clone() : tensor);
  }
  return result;
}

std::vector<at::Tensor> gradients_of(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> result;
  for (const auto& parameter : parameters) result.push_back(parameter.grad());
  return copies(result);
}

bool all_equal(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  return std::ranges::equal(a, b, [](const at::Tensor& left, const at::Tensor& right) {
    return left.defined() == right.defined() && (!left.defined() || at::equal(left, right));
  });
}

bool all_close(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b,
               double tolerance) {
  return std::ranges::equal(a, b, [=](const at::Tensor& left, const at::Tensor& right) {
    return left.defined() == right.defined() &&
           (!left.defined() || left.allclose(right, tolerance, tolerance));
  });
}

StrategyOptions buckets(std::int64_t bytes) {
  StrategyOptions options;
  options.first_bucket_bytes = options.bucket_bytes = bytes;
  return options;
}

MakeOptimizer make_sgd(double lr, double momentum, double weight_decay, bool nesterov) {
  return [=](const std::vector<at::Tensor>& parameters) {
    return std::make_unique<torch::optim::SGD>(parameters, torch::optim::SGDOptions(lr)
                                                               .momentum(momentum)
                                                               .weight_decay(weight_decay)
                                                               .nesterov(nesterov));
  };
}

MakeOptimizer make_adam(double lr, bool amsgrad) {
  return [=](const std::vector<at::Tensor>& parameters) {
    return std::make_unique<torch::optim::Adam>(
        parameters, torch::optim::AdamOptions(lr).amsgrad(amsgrad).weight_decay(0.01));
  };
}

MakeOptimizer make_adamw(double lr) {
  return [=](const std::vector<at::Tensor>& parameters) {
    return std::make_unique<torch::optim::AdamW>(parameters, torch::optim::AdamWOptions(lr));
  };
}

}  // namespace muster::test
