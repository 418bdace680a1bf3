#include "prepared_optimizer.hpp"

#include <muster/autocast.hpp>
#include <muster/control.hpp>
#include <muster/error.hpp>
#include <muster/optimizer.hpp>
#include <muster/tensor_text.hpp>
#include <muster/time_spent.hpp>

#include "overflow.hpp"
#include "rank_mean.hpp"

#include <ATen/ops/full_like.h>
#include <torch/csrc/api/include/torch/optim/optimizer.h>

#include <algorithm>
#include <exception>
#include <string>
#include <unordered_map>
#include <utility>

namespace muster {
namespace {

using Models = std::vector<std::shared_ptr<PreparedModel>>;

std::unordered_map<const c10::TensorImpl*, std::shared_ptr<PreparedModel>> owners_of(
    const Models& models) {
  std::unordered_map<const c10::TensorImpl*, std::shared_ptr<PreparedModel>> owners;
  for (const auto& model : models) {
    for (const auto& parameter : model->module->parameters()) {
      owners.emplace(parameter.tensor.unsafeGetTensorImpl(), model);
    }
  }
  return owners;
}

[[noreturn]] void refuse_parameter(std::size_t group, std::size_t index, const at::Tensor& tensor,
                                   std::size_t models) {
  throw ModelError("the optimizer's parameter " + std::to_string(index) + " of group " +
                   std::to_string(group) + " (" + describe_tensor(tensor) +
                   ") belongs to none of the " + std::to_string(models) +
                   " prepared models: give prepare() the module that holds it, together with the "
                   "optimizer or before it");
}

/// Calls `update` between what the strategies do before and after a step, unless one of them says
/// that it is to be skipped.
template <class Update>
void take_step(PreparedOptimizer& prepared, Update&& update) {
  prepared.skipped = false;
  bool finite = true;
  for (const auto& model : prepared.models) {
    if (model->strategy->before_step(*prepared.optimizer)) continue;
    prepared.skipped = true;
    finite = finite && model->strategy->gradients_finite(*prepared.optimizer);
  }
  if (!prepared.skipped) update();
  const auto trouble = prepared.scaler ? move_scale(prepared, finite) : nullptr;
  for (const auto& model : prepared.models) model->strategy->after_step(*prepared.optimizer);
  if (trouble) std::rethrow_exception(trouble);
  if (prepared.skipped) return Control::instance().active();
  Autocast::forget_weights();
  Control::instance().step(++prepared.steps);
}

bool accumulates(const PreparedOptimizer& prepared) {
  return std::ranges::any_of(prepared.models, [](const auto& model) { return model->accumulates; });
}

}  // namespace

PreparedOptimizer::PreparedOptimizer(std::shared_ptr<torch::optim::Optimizer> torch_optimizer,
                                     Models updated)
    : optimizer(std::move(torch_optimizer)), models(std::move(updated)) {
  for (const auto& model : models) model->strategy->attach(*optimizer);
}

PreparedOptimizer::~PreparedOptimizer() {
  for (const auto& model : models) model->strategy->detach(*optimizer);
}

bool PreparedOptimizer::due() const noexcept {
  return std::ranges::all_of(models, [](const auto& model) { return model->synchronises; });
}

bool PreparedOptimizer::fused() const {
  return std::ranges::all_of(
      models, [this](const auto& model) { return model->strategy->fuses(*optimizer); });
}

std::shared_ptr<PreparedOptimizer> prepare_optimizer(
    std::shared_ptr<torch::optim::Optimizer> optimizer, const Models& models) {
  const auto owners = owners_of(models);
  Models updated;
  const auto& groups = optimizer->param_groups();
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const auto& parameters = groups[group].params();
    for (std::size_t index = 0; index < parameters.size(); ++index) {
      const auto owner = owners.find(parameters[index].unsafeGetTensorImpl());
      if (owner == owners.end()) refuse_parameter(group, index, parameters[index], models.size());
      if (std::ranges::find(updated, owner->second) == updated.end()) {
        updated.push_back(owner->second);
      }
    }
  }
  return std::make_shared<PreparedOptimizer>(std::move(optimizer), std::move(updated));
}

void Optimizer::step() {
  if (!prepared_->due()) {
    prepared_->skipped = false;
    return;
  }
  if (prepared_->join && prepared_->join->active()) {
    (void)prepared_->join->tell({.kind = JoinCall::Kind::step, .object = prepared_->number});
  }
  const SpendingTime updating(&TimeSpent::update);
  auto& optimizer = *prepared_->optimizer;
  take_step(*prepared_, [&] {
    if (!prepared_->fused()) {
      optimizer.step();
      return;
    }
    for (const auto& model : prepared_->models) model->strategy->update(optimizer);
  });
}

at::Tensor Optimizer::step(const std::function<at::Tensor()>& closure) {
  if (prepared_->fused()) {
    auto loss = closure();
    step();
    return loss;
  }
  if (prepared_->join && prepared_->join->active()) {
    throw UnsupportedError(
        "step(closure) of this optimizer evaluates the loss, for which ranks without a batch have "
        "no data: not inside join_uneven_inputs");
  }
  if (accumulates(*prepared_)) {
    throw UnsupportedError(
        "step(closure) of this optimizer evaluates the loss as often as it likes, which works with "
        "gradient_accumulation_steps = 1: run it so, or take SGD, Adam, AdamW, Adagrad or RMSprop");
  }
  if (prepared_->scaler) {
    throw UnsupportedError(
        "step(closure) of this optimizer reads gradients as its closure leaves them, and those of "
        "fp16 are scaled and may overflow: use bf16 or no mixed precision, or take SGD, Adam, "
        "AdamW, Adagrad or RMSprop");
  }
  // What the optimizer decides by the loss has to be the same on all ranks, as gradients are.
  const auto mean_loss = [&] {
    const auto loss = closure();
    return at::full_like(loss.detach(), mean_over_ranks(*prepared_->mesh, loss.item<double>(),
                                                        "loss of step(closure)"));
  };
  at::Tensor loss;
  take_step(*prepared_, [&] { loss = prepared_->optimizer->step(mean_loss); });
  return loss;
}

void Optimizer::zero_grad() {
  for (const auto& model : prepared_->models)
    model->strategy->zero_grad(prepared_->optimizer.get());
}

std::uint64_t Optimizer::steps() const noexcept { return prepared_->steps; }
bool Optimizer::step_was_skipped() const noexcept { return prepared_->skipped; }

torch::optim::Optimizer* Optimizer::operator->() const noexcept {
  return prepared_->optimizer.get();
}

}  // namespace muster
