#include "optimizer_state.hpp"
#include "update_rule.hpp"

#include <ATen/ops/_fused_adagrad.h>
#include <ATen/ops/full_like.h>
#include <torch/optim/adagrad.h>

#include <typeinfo>

namespace muster {
namespace {

using torch::optim::AdagradOptions;
using torch::optim::AdagradParamState;

class AdagradRule final : public UpdateRule {
 public:
  ParameterState state(torch::optim::Optimizer& optimizer, const at::Tensor& parameter,
                       const torch::optim::OptimizerOptions& options) const override {
    auto& state = make_state<AdagradParamState>(optimizer, parameter);
    if (!state.sum().defined()) {
      const auto& adagrad = static_cast<const AdagradOptions&>(options);
      state.sum(at::full_like(parameter.detach(), adagrad.initial_accumulator_value()));
    }
    return {{&state.sum()}, &state.step()};
  }

  ParameterState existing_state(torch::optim::Optimizer& optimizer,
                                const at::Tensor& parameter) const override {
    auto* state = find_state<AdagradParamState>(optimizer, parameter);
    if (state == nullptr) return {};
    return {{&state->sum()}, &state->step()};
  }

  void update(const torch::optim::OptimizerOptions& options,
              const UpdateSlices& slices) const override {
    const auto& adagrad = static_cast<const AdagradOptions&>(options);
    at::_fused_adagrad_(slices.parameters, slices.gradients, slices.states[0], slices.steps,
                        adagrad.lr(), adagrad.lr_decay(), adagrad.weight_decay(), adagrad.eps(),
                        /*maximize=*/false);
  }
};

}  // namespace

const UpdateRule* adagrad_rule(const torch::optim::Optimizer& optimizer) {
  static const AdagradRule rule;
  return typeid(optimizer) == typeid(torch::optim::Adagrad) ? &rule : nullptr;
}

}  // namespace muster
