#include <muster/adopter.hpp>
#include <muster/error.hpp>

#include "accelerator_state.hpp"

#include <algorithm>

namespace muster {
namespace {

/// A parameter can be in the buckets of one model only.
void refuse_shared_parameters(const ModuleView& module, const AcceleratorState& state) {
  for (const auto& parameter : module.parameters()) {
    for (const auto& other : state.models) {
      for (const auto& owned : other->module->parameters()) {
        if (!owned.tensor.is_same(parameter.tensor)) continue;
        throw ModelError("parameter '" + parameter.name + "' is prepared already, as '" +
                         owned.name + "' of another model: prepare one module that holds both");
      }
    }
  }
}

std::shared_ptr<PreparedModel> adopt_view(AcceleratorState& state,
                                          std::unique_ptr<ModuleView> module) {
  const auto known = std::ranges::find_if(state.models, [&](const auto& model) {
    return model->module->identity() == module->identity();
  });
  if (known != state.models.end()) return *known;
  refuse_shared_parameters(*module, state);
  auto model = prepare_model(std::move(module), state.new_strategy());
  model->accumulates = state.settings.settings().train.gradient_accumulation_steps > 1;
  state.models.push_back(model);
  return model;
}

}  // namespace

ModelHandle Adopter::adopt(std::shared_ptr<torch::nn::Module> module) const {
  if (!module) throw ModelError("prepare: the module is null");
  return ModelHandle(adopt_view(*state_, view_module(std::move(module))));
}

ModelHandle Adopter::adopt(const torch::jit::Module& module) const {
  return ModelHandle(adopt_view(*state_, view_module(module)));
}

std::vector<std::shared_ptr<PreparedOptimizer>> Adopter::known_optimizers() const {
  std::erase_if(state_->optimizers, [](const auto& kept) { return kept.expired(); });
  std::vector<std::shared_ptr<PreparedOptimizer>> known;
  for (const auto& kept : state_->optimizers) known.push_back(kept.lock());
  return known;
}

Optimizer Adopter::adopt(std::shared_ptr<torch::optim::Optimizer> optimizer) {
  if (!optimizer) throw ModelError("prepare: the optimizer is null");
  const auto known = known_optimizers();
  const auto same = std::ranges::find(known, optimizer, &PreparedOptimizer::optimizer);
  if (same != known.end()) {
    optimizers_.push_back(*same);
  } else {
    optimizers_.push_back(prepare_optimizer(std::move(optimizer), state_->models));
    optimizers_.back()->mesh = state_->mesh();
    state_->optimizers.push_back(optimizers_.back());
  }
  return Optimizer(optimizers_.back());
}

Adopter::Part Adopter::part() const {
  const auto& mesh = *state_->mesh();
  return {mesh.coordinate("data"), mesh.size("data"), state_->loop, mesh.world().device(),
          state_->settings.settings().train.seed};
}

}  // namespace muster
