#include "optimizer_state.hpp"
#include "update_rule.hpp"

#include <torch/optim/rmsprop.h>

#include <typeinfo>

namespace muster {
namespace {

using torch::optim::RMSpropOptions;
using torch::optim::RMSpropParamState;

/// One slice; LibTorch has no fused kernel. States: square_avg, momentum_buffer, grad_avg.
void update_slice(const RMSpropOptions& options, const UpdateSlices& slices, std::size_t index) {
  const auto& parameter = slices.parameters[index];
  const auto& square_average = slices.states[0][index];
  auto gradient = slices.gradients[index];
  if (options.weight_decay() != 0) gradient = gradient.add(parameter, options.weight_decay());
  square_average.mul_(options.alpha()).addcmul_(gradient, gradient, 1 - options.alpha());
  at::Tensor deviation;
  if (options.centered()) {
    const auto& average = slices.states[2][index];
    average.mul_(options.alpha()).add_(gradient, 1 - options.alpha());
    deviation = square_average.addcmul(average, average, -1).sqrt_().add_(options.eps());
  } else {
    deviation = square_average.sqrt().add_(options.eps());
  }
  if (options.momentum() > 0) {
    const auto& buffer = slices.states[1][index];
    buffer.mul_(options.momentum()).addcdiv_(gradient, deviation);
    parameter.add_(buffer, -options.lr());
  } else {
    parameter.addcdiv_(gradient, deviation, -options.lr());
  }
}

class RmspropRule final : public UpdateRule {
 public:
  ParameterState state(torch::optim::Optimizer& optimizer, const at::Tensor& parameter,
                       const torch::optim::OptimizerOptions& options) const override {
    auto& state = make_state<RMSpropParamState>(optimizer, parameter);
    const auto& rmsprop = static_cast<const RMSpropOptions&>(options);
    return {{&state.square_avg(), rmsprop.momentum() > 0 ? &state.momentum_buffer() : nullptr,
             rmsprop.centered() ? &state.grad_avg() : nullptr},
            &state.step()};
  }

  ParameterState existing_state(torch::optim::Optimizer& optimizer,
                                const at::Tensor& parameter) const override {
    auto* state = find_state<RMSpropParamState>(optimizer, parameter);
    if (state == nullptr) return {};
    return {{&state->square_avg(), &state->momentum_buffer(), &state->grad_avg()}, &state->step()};
  }

  void update(const torch::optim::OptimizerOptions& options,
              const UpdateSlices& slices) const override {
    for (std::size_t index = 0; index < slices.parameters.size(); ++index) {
      update_slice(static_cast<const RMSpropOptions&>(options), slices, index);
    }
  }
};

}  // namespace

const UpdateRule* rmsprop_rule(const torch::optim::Optimizer& optimizer) {
  static const RmspropRule rule;
  return typeid(optimizer) == typeid(torch::optim::RMSprop) ? &rule : nullptr;
}

}  // namespace muster
