#include "optimizer_state.hpp"
#include "update_rule.hpp"

#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>

#include <typeinfo>

namespace muster {
namespace {

/// Adam and AdamW differ in the kernel.
template <class Options, class State, auto kernel>
class AdamRule final : public UpdateRule {
 public:
  ParameterState state(torch::optim::Optimizer& optimizer, const at::Tensor& parameter,
                       const torch::optim::OptimizerOptions& options) const override {
    auto& state = make_state<State>(optimizer, parameter);
    const bool amsgrad = static_cast<const Options&>(options).amsgrad();
    return {{&state.exp_avg(), &state.exp_avg_sq(), amsgrad ? &state.max_exp_avg_sq() : nullptr},
            &state.step()};
  }

  ParameterState existing_state(torch::optim::Optimizer& optimizer,
                                const at::Tensor& parameter) const override {
    auto* state = find_state<State>(optimizer, parameter);
    if (state == nullptr) return {};
    return {{&state->exp_avg(), &state->exp_avg_sq(), &state->max_exp_avg_sq()}, &state->step()};
  }

  void update(const torch::optim::OptimizerOptions& options,
              const UpdateSlices& slices) const override {
    const auto& adam = static_cast<const Options&>(options);
    const auto [beta1, beta2] = adam.betas();
    kernel(slices.parameters, slices.gradients, slices.states[0], slices.states[1],
           slices.states[2], slices.steps, adam.lr(), beta1, beta2, adam.weight_decay(), adam.eps(),
           adam.amsgrad(), /*maximize=*/false, std::nullopt, std::nullopt);
  }
};

using Scalar = std::optional<at::Tensor>;
using Kernel = void (*)(at::TensorList, at::TensorList, at::TensorList, at::TensorList,
                        at::TensorList, at::TensorList, double, double, double, double, double,
                        bool, bool, const Scalar&, const Scalar&);

}  // namespace

const UpdateRule* adam_rule(const torch::optim::Optimizer& optimizer) {
  static const AdamRule<torch::optim::AdamOptions, torch::optim::AdamParamState,
                        static_cast<Kernel>(&at::_fused_adam_)>
      rule;
  return typeid(optimizer) == typeid(torch::optim::Adam) ? &rule : nullptr;
}

const UpdateRule* adamw_rule(const torch::optim::Optimizer& optimizer) {
  static const AdamRule<torch::optim::AdamWOptions, torch::optim::AdamWParamState,
                        static_cast<Kernel>(&at::_fused_adamw_)>
      rule;
  return typeid(optimizer) == typeid(torch::optim::AdamW) ? &rule : nullptr;
}

}  // namespace muster
