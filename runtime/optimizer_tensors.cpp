#include "optimizer_tensors.hpp"

#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <string>

namespace muster {
namespace {

std::vector<TensorLeaf> tensors_in(const torch::optim::OptimizerParamState& state) {
  using namespace torch::optim;
  if (const auto* adam = dynamic_cast<const AdamParamState*>(&state)) {
    return {{"exp_avg", adam->exp_avg()},
            {"exp_avg_sq", adam->exp_avg_sq()},
            {"max_exp_avg_sq", adam->max_exp_avg_sq()}};
  }
  if (const auto* adamw = dynamic_cast<const AdamWParamState*>(&state)) {
    return {{"exp_avg", adamw->exp_avg()},
            {"exp_avg_sq", adamw->exp_avg_sq()},
            {"max_exp_avg_sq", adamw->max_exp_avg_sq()}};
  }
  if (const auto* sgd = dynamic_cast<const SGDParamState*>(&state)) {
    return {{"momentum_buffer", sgd->momentum_buffer()}};
  }
  if (const auto* adagrad = dynamic_cast<const AdagradParamState*>(&state)) {
    return {{"sum", adagrad->sum()}};
  }
  if (const auto* rmsprop = dynamic_cast<const RMSpropParamState*>(&state)) {
    return {{"square_avg", rmsprop->square_avg()},
            {"momentum_buffer", rmsprop->momentum_buffer()},
            {"grad_avg", rmsprop->grad_avg()}};
  }
  return {};
}

}  // namespace

std::vector<TensorLeaf> tensors_of_state(const torch::optim::Optimizer& optimizer) {
  std::vector<TensorLeaf> tensors;
  std::size_t index = 0;
  for (const auto& group : optimizer.param_groups()) {
    for (const auto& parameter : group.params()) {
      const auto place = "parameter " + std::to_string(index++) + " ";
      const auto found = optimizer.state().find(parameter.unsafeGetTensorImpl());
      if (found == optimizer.state().end() || !found->second) continue;
      for (auto& [name, tensor, note] : tensors_in(*found->second)) {
        if (tensor.defined()) tensors.push_back({place + name, tensor});
      }
    }
  }
  return tensors;
}

}  // namespace muster
