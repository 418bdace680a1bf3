#include "leaves.hpp"

#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <unordered_set>

namespace muster {

std::vector<at::Tensor> leaves_of(const at::Tensor& root) {
  using torch::autograd::Node;
  std::vector<at::Tensor> leaves;
  const auto start = torch::autograd::impl::gradient_edge(root).function;
  std::unordered_set<Node*> seen{start.get()};
  std::vector<Node*> open{start.get()};
  while (!open.empty()) {
    auto* node = open.back();
    open.pop_back();
    if (auto* leaf = dynamic_cast<torch::autograd::AccumulateGrad*>(node)) {
      leaves.push_back(leaf->variable);
    }
    for (const auto& edge : node->next_edges()) {
      if (edge.function && seen.insert(edge.function.get()).second) {
        open.push_back(edge.function.get());
      }
    }
  }
  return leaves;
}

}  // namespace muster
