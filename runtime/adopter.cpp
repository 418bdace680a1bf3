#include <muster/adopter.hpp>
#include <muster/error.hpp>
#include <muster/log.hpp>
#include <muster/tensor_text.hpp>

#include "accelerator_state.hpp"
#include "overflow.hpp"

#include <algorithm>
#include <mutex>
#include <string>

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

/// Small updates would be lost in them; autocast keeps the weights in fp32.
void refuse_half_parameters(const ModuleView& module) {
  for (const auto& [name, tensor] : module.parameters()) {
    if (!tensor.requires_grad() || tensor.scalar_type() != at::kHalf) continue;
    throw ModelError("parameter '" + name + "' is " + describe_tensor(tensor) +
                     " and is trained: mixed precision fp16 trains fp32 weights; call "
                     "module->to(torch::kFloat) before prepare, or freeze the parameter");
  }
}

std::shared_ptr<PreparedModel> adopt_view(AcceleratorState& state,
                                          std::unique_ptr<ModuleView> module, bool evaluation) {
  const auto known = std::ranges::find_if(state.models, [&](const auto& model) {
    return model->module->identity() == module->identity();
  });
  if (known != state.models.end()) return *known;
  refuse_shared_parameters(*module, state);
  if (state.scaler->enabled() && !evaluation) refuse_half_parameters(*module);
  const auto& train = state.settings.settings().train;
  auto model =
      prepare_model(std::move(module), evaluation ? state.new_replica() : state.new_strategy());
  model->dtype = state.dtype;
  model->device = state.device;
  model->accumulates = train.gradient_accumulation_steps > 1;
  if (train.sync_batch_norm && !evaluation && state.data_group().size() > 1) {
    model->sync_batch_norm = std::make_unique<SyncBatchNorm>(*model->module, state.norm_group());
  }
  model->join = state.join;
  model->number = state.join->add(model);
  state.models.push_back(model);
  return model;
}

}  // namespace

ModelHandle Adopter::adopt(std::shared_ptr<torch::nn::Module> module) const {
  if (!module) throw ModelError("prepare: the module is null");
  return ModelHandle(adopt_view(*state_, view_module(std::move(module)), evaluation_));
}

ModelHandle Adopter::adopt(const torch::jit::Module& module) const {
  return ModelHandle(adopt_view(*state_, view_module(module), evaluation_));
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
    if (state_->scaler->enabled()) {
      optimizers_.back()->scaler = state_->scaler;
      prepare_for_overflow(*optimizers_.back());
    }
    optimizers_.back()->join = state_->join;
    optimizers_.back()->number = state_->join->add(optimizers_.back());
    state_->optimizers.push_back(optimizers_.back());
  }
  return Optimizer(optimizers_.back());
}

Adopter::Part Adopter::part() const {
  const auto& mesh = *state_->mesh();
  return {mesh.coordinate("data"), mesh.size("data"), state_->loop, mesh.world().device(),
          state_->settings.settings().train.seed};
}

void Adopter::note_dealt(bool own_part) const {
  static std::once_flag once;
  if (state_->world.rank != 0 || state_->world.size == 1) return;
  const std::string text =
      own_part ? "a loader of torch::data with a distributed sampler is taken to read its rank's "
                 "part, in the same order in every epoch"
               : "the batches of a loader of torch::data are dealt to " +
                     std::to_string(state_->world.size) +
                     " ranks, each of which reads all of them; a muster::DataLoader of its data "
                     "set reads each once";
  std::call_once(once, [&] { log(LogLevel::info, text); });
}

}  // namespace muster
