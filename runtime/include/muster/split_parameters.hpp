#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <string>
#include <vector>

namespace muster {

/// A module's parameters, for groups of an optimizer.
struct ParameterSplit {
  std::vector<at::Tensor> chosen, others;
};

/// The parameters for which `choose(name, tensor)` is true, and the others, in the module's order;
/// a tied one once, under its first name. `module`: a torch::nn::Module or what is derived from it.
template <class Module, class Choose>
ParameterSplit split_parameters(const Module& module, const Choose& choose) {
  ParameterSplit split;
  std::vector<const void*> seen;
  for (const auto& parameter : module.named_parameters()) {
    const at::Tensor& tensor = parameter.value();
    if (std::ranges::find(seen, tensor.unsafeGetTensorImpl()) != seen.end()) continue;
    seen.push_back(tensor.unsafeGetTensorImpl());
    auto& list = choose(parameter.key(), tensor) ? split.chosen : split.others;
    list.push_back(tensor);
  }
  return split;
}

/// Those that weight decay is meant for, weights of two or more dimensions, and biases and norms.
template <class Module>
ParameterSplit split_for_decay(const Module& module) {
  return split_parameters(module, [](const std::string& /*name*/, const at::Tensor& tensor) {
    return tensor.dim() >= 2;
  });
}

}  // namespace muster
