#include <ATen/ops/_fused_sgd.h>
#include <torch/optim/sgd.h>

#include <typeinfo>

#include "optimizer_state.hpp"
#include "update_rule.hpp"

namespace muster {
namespace {

using torch::optim::SGDOptions;
using torch::optim::SGDParamState;

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
