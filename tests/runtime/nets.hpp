#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

namespace muster::test {

struct Mlp : torch::nn::Module {
  explicit Mlp(int width = 16) {
    hidden = register_module("hidden", torch::nn::Linear(8, width));
    output = register_module("output", torch::nn::Linear(width, 4));
  }
  torch::Tensor forward(const torch::Tensor& x) { return output(torch::relu(hidden(x))); }
  torch::nn::Linear hidden{nullptr}, output{nullptr};
};

struct Normed : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) { return output(norm(input(x))); }
  torch::nn::Linear input = register_module("input", torch::nn::Linear(8, 8));
  torch::nn::BatchNorm1d norm = register_module("norm", torch::nn::BatchNorm1d(8));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(8, 4));
};

/// What TORCH_MODULE makes a holder of.
struct TailImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x, double factor = 2) { return linear(x) * factor; }
  torch::nn::Linear linear = register_module("linear", torch::nn::Linear(8, 4));
};
TORCH_MODULE(Tail);

inline std::vector<torch::Tensor> copies(const std::vector<torch::Tensor>& tensors) {
  std::vector<torch::Tensor> result;
  for (const auto& tensor : tensors) result.push_back(tensor.detach().clone());
  return result;
}

/// Names of the tensors that differ by more than `tolerance`; empty: none. 0 asks for equal bits.
inline std::string differing(const std::vector<torch::Tensor>& a,
                             const std::vector<torch::Tensor>& b, double tolerance = 0) {
  if (a.size() != b.size()) return "numbers of tensors";
  std::string names;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same = tolerance == 0 ? torch::equal(a[i], b[i])
                                     : torch::allclose(a[i], b[i], tolerance, tolerance);
    if (!same) names += std::to_string(i) + ' ';
  }
  return names;
}

}  // namespace muster::test
