#include <muster/accelerator.hpp>
#include <muster/error.hpp>
#include <muster/tensor_text.hpp>

#include "accelerator_state.hpp"
#include "leaves.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace muster {
namespace {

std::shared_ptr<MicroStep> open(AcceleratorState& state, MicroStep micro_step) {
  auto opened = std::make_shared<MicroStep>(std::move(micro_step));
  state.scopes.push_back(opened);
  return opened;
}

void require_loss(const at::Tensor& loss) {
  if (!loss.defined() || loss.numel() != 1) {
    throw ModelError("backward: the loss is " + describe_tensor(loss) +
                     "; it has to be one number, such as its mean");
  }
  if (!loss.requires_grad()) {
    throw ModelError("backward: the loss depends on no tensor that requires a gradient");
  }
}

/// Of models that are in the middle of a window of their own.
std::unordered_set<const c10::TensorImpl*> parameters_in_other_windows(
    const AcceleratorState& state, const std::vector<std::shared_ptr<PreparedModel>>& named) {
  std::unordered_set<const c10::TensorImpl*> result;
  for (const auto& model : state.models) {
    if (!model->strategy->in_window() || std::ranges::find(named, model) != named.end()) continue;
    for (const auto& parameter : model->module->parameters()) {
      result.insert(parameter.tensor.unsafeGetTensorImpl());
    }
  }
  return result;
}

/// Backward without what would end up in another model's window.
void backward_for(const AcceleratorState& state,
                  const std::vector<std::shared_ptr<PreparedModel>>& named,
                  const at::Tensor& loss) {
  const auto foreign = parameters_in_other_windows(state, named);
  if (foreign.empty()) return loss.backward();
  auto leaves = leaves_of(loss);
  std::erase_if(leaves,
                [&](const auto& leaf) { return foreign.contains(leaf.unsafeGetTensorImpl()); });
  if (!leaves.empty()) loss.backward({}, std::nullopt, false, at::TensorList(leaves));
}

}  // namespace

bool MicroStep::synchronises() const noexcept {
  return closes &&
         std::ranges::all_of(models, [](const auto& model) { return model->no_sync_depth == 0; });
}

Scope::Scope(std::shared_ptr<AcceleratorState> state, std::shared_ptr<MicroStep> micro_step)
    : state_(std::move(state)), micro_step_(std::move(micro_step)) {}

Scope::~Scope() {
  if (micro_step_->no_sync) --micro_step_->models.front()->no_sync_depth;
  std::erase(state_->scopes, micro_step_);
}

bool Scope::synchronises() const noexcept { return micro_step_->synchronises(); }

Scope Accelerator::begin_micro_step(std::initializer_list<const ModelHandle*> models) {
  const int steps = gradient_accumulation_steps();
  MicroStep micro_step;
  micro_step.closes = false;
  for (const auto* handle : models) {
    micro_step.models.push_back(handle->prepared_);
    // Each model counts its own, so that a second accumulate() for another model does not advance
    // this one's.
    micro_step.closes |= handle->prepared_->accumulation.next(
        steps, state_->options.sync_with_dataloader, *state_->loop);
  }
  for (const auto& model : micro_step.models) {
    model->begin(micro_step.closes && model->no_sync_depth == 0);
    // A window that no_sync() keeps open closes with the next micro-step that may.
    if (model->synchronises) model->accumulation.close();
  }
  state_->loop->sync_gradients = micro_step.synchronises();
  return {state_, open(*state_, std::move(micro_step))};
}

Scope Accelerator::no_sync(const ModelHandle& model) {
  model.prepared_->begin(false);
  state_->loop->sync_gradients = false;
  auto opened = open(*state_, {.models = {model.prepared_}, .closes = false, .no_sync = true});
  ++model.prepared_->no_sync_depth;
  return {state_, std::move(opened)};
}

void Accelerator::backward(const at::Tensor& loss) {
  require_loss(loss);
  const auto scope = std::ranges::find_if(state_->scopes.rbegin(), state_->scopes.rend(),
                                          [](const auto& open) { return !open->no_sync; });
  const bool announced = scope != state_->scopes.rend();
  // What a backward does to the gradients of models that accumulate() did not name is nobody's
  // step.
  const auto models = announced ? (*scope)->models : state_->models;
  for (const auto& model : models) {
    const bool closes = model->no_sync_depth == 0 && (!announced || (*scope)->closes);
    if (!announced || closes != model->synchronises) model->begin(closes);
  }
  state_->loop->sync_gradients =
      std::ranges::all_of(models, [](const auto& model) { return model->synchronises; });
  backward_for(*state_, models, loss);
  for (const auto& model : models) model->strategy->end_micro_step();
}

bool Accelerator::sync_gradients() const noexcept { return state_->loop->sync_gradients; }

}  // namespace muster
