#include <muster/accelerator.hpp>
#include <muster/error.hpp>
#include <muster/tensor_text.hpp>

#include "accelerator_state.hpp"
#include "leaves.hpp"

#include <algorithm>
#include <optional>
#include <string>
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

/// The strategies know by what the loss of the backward under way is scaled.
class ScaledBackward {
 public:
  explicit ScaledBackward(const AcceleratorState& state) {
    if (!state.scaler->enabled()) return;
    scale_ = state.scaler->scale();
    models_ = state.models;
  }
  ~ScaledBackward() {
    for (const auto& model : models_) model->strategy->end_backward();
  }
  ScaledBackward(const ScaledBackward&) = delete;
  ScaledBackward& operator=(const ScaledBackward&) = delete;

  at::Tensor begin(const at::Tensor& loss) const {
    if (models_.empty()) return loss;
    for (const auto& model : models_) model->strategy->begin_backward(scale_);
    // A narrow loss could not hold the product.
    const bool wide = loss.element_size() >= 4;
    return (wide ? loss : loss.to(at::kFloat)).mul(scale_);
  }

 private:
  double scale_ = 1;
  std::vector<std::shared_ptr<PreparedModel>> models_;
};

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

/// Ranks without a batch begin it too.
void tell_micro_step(AcceleratorState& state, MicroStep& micro_step) {
  JoinCall call{.kind = JoinCall::Kind::micro_step};
  for (const auto& model : micro_step.models) {
    call.object |= Join::bit(*model);
    if (model->no_sync_depth == 0) call.may_close |= Join::bit(*model);
  }
  if (micro_step.closes) call.closing = call.may_close;
  const bool last = state.options.sync_with_dataloader && state.loop->end_of_loader();
  call.last_batch = last ? 1 : 0;
  micro_step.closes = Join::closing(state.join->tell(call)) != 0 || micro_step.closes;
}

/// Ranks without a batch exchange gradients too.
void tell_backward(AcceleratorState& state,
                   const std::vector<std::shared_ptr<PreparedModel>>& models, bool announced,
                   bool closes) {
  JoinCall call{.kind = JoinCall::Kind::backward, .announced = announced ? 1 : 0};
  for (const auto& model : models) {
    call.object |= Join::bit(*model);
    if (closes && model->no_sync_depth == 0) call.closing |= Join::bit(*model);
  }
  (void)state.join->tell(call);
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
  const bool joining = state_->join->active();
  // While ranks run out one after the other, a window closes early with the last batch of all only.
  const bool at_end = state_->options.sync_with_dataloader && !joining;
  MicroStep micro_step;
  micro_step.closes = false;
  for (const auto* handle : models) {
    micro_step.models.push_back(handle->prepared_);
    // Each model counts its own, so that a second accumulate() for another model does not advance
    // this one's.
    micro_step.closes |= handle->prepared_->accumulation.next(steps, at_end, *state_->loop);
  }
  if (joining) tell_micro_step(*state_, micro_step);
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

void Accelerator::backward(const at::Tensor& loss) { run_backward(loss, std::nullopt); }

void Accelerator::backward(const at::Tensor& loss_sum, std::int64_t count) {
  if (count < 0) {
    throw ConfigError("backward: a loss is the sum of 0 parts or more, not of " +
                      std::to_string(count));
  }
  run_backward(loss_sum, count);
}

void Accelerator::run_backward(const at::Tensor& loss, std::optional<std::int64_t> count) {
  require_loss(loss);
  const auto scope = std::ranges::find_if(state_->scopes.rbegin(), state_->scopes.rend(),
                                          [](const auto& open) { return !open->no_sync; });
  const bool announced = scope != state_->scopes.rend();
  // What a backward does to the gradients of models that accumulate() did not name is nobody's
  // step.
  const auto models = announced ? (*scope)->models : state_->models;
  if (state_->join->active()) {
    tell_backward(*state_, models, announced, !announced || (*scope)->closes);
  }
  for (const auto& model : models) {
    const bool closes = model->no_sync_depth == 0 && (!announced || (*scope)->closes);
    if (!announced || closes != model->synchronises) model->begin(closes);
    if (count) model->strategy->weigh(static_cast<double>(*count));
  }
  state_->loop->sync_gradients =
      std::ranges::all_of(models, [](const auto& model) { return model->synchronises; });
  // Operators compute in the dtypes that their forward had.
  const auto narrow = state_->dtype ? autocast(false) : Autocast();
  const ScaledBackward scaled(*state_);
  backward_for(*state_, models, scaled.begin(loss));
  for (const auto& model : models) model->strategy->end_micro_step();
}

bool Accelerator::sync_gradients() const noexcept { return state_->loop->sync_gradients; }

}  // namespace muster
