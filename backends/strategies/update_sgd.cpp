#include "optimizer_state.hpp"
#include "update_rule.hpp"

#include <ATen/ops/_fused_sgd.h>
#include <torch/optim/sgd.h>

#include <typeinfo>

namespace muster {
namespace {

using torch::optim::SGDOptions;
using torch::optim::SGDParamState;

/// One slice, in LibTorch's own order of operations.
void update_slice(const SGDOptions& options, const UpdateSlices& slices, std::size_t index) {
  const auto& parameter = slices.parameters[index];
  auto direction = slices.gradients[index];
  if (options.weight_decay() != 0) direction = direction.add(parameter, options.weight_decay());
  if (options.momentum() != 0) {
    const auto& buffer = slices.states[0][index];
    if (slices.fresh) {
      buffer.copy_(direction);
    } else {
      buffer.mul_(options.momentum()).add_(direction, 1 - options.dampening());
    }
    direction = options.nesterov() ? direction.add(buffer, options.momentum()) : buffer;
  }
  parameter.add_(direction, -options.lr());
}

class SgdRule final : public UpdateRule {
 public:
  ParameterState state(torch::optim::Optimizer& optimizer, const at::Tensor& parameter,
                       const torch::optim::OptimizerOptions& options) const override {
    if (static_cast<const SGDOptions&>(options).momentum() == 0) return {};
    return {{&make_state<SGDParamState>(optimizer, parameter).momentum_buffer()}, nullptr};
  }

  ParameterState existing_state(torch::optim::Optimizer& optimizer,
                                const at::Tensor& parameter) const override {
    auto* state = find_state<SGDParamState>(optimizer, parameter);
    return {{state == nullptr ? nullptr : &state->momentum_buffer()}, nullptr};
  }

  void update(const torch::optim::OptimizerOptions& options,
              const UpdateSlices& slices) const override {
    const auto& sgd = static_cast<const SGDOptions&>(options);
    // On the CPU, LibTorch 2.11's kernel leaves parameters of 16 bits as they are, without a word.
    if (slices.parameters[0].element_size() < 4) {
      for (std::size_t index = 0; index < slices.parameters.size(); ++index) {
        update_slice(sgd, slices, index);
      }
      return;
    }
    at::_fused_sgd_(slices.parameters, slices.gradients, slices.states[0], sgd.weight_decay(),
                    sgd.momentum(), sgd.lr(), sgd.dampening(), sgd.nesterov(), /*maximize=*/false,
                    slices.fresh);
  }
};

}  // namespace

const UpdateRule* sgd_rule(const torch::optim::Optimizer& optimizer) {
  static const SgdRule rule;
  return typeid(optimizer) == typeid(torch::optim::SGD) ? &rule : nullptr;
}

}  // namespace muster
