#include <muster/ema.hpp>
#include <muster/error.hpp>
#include <muster/tensor_text.hpp>

#include "internals.hpp"
#include "module_view.hpp"

#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace muster {
namespace {

constexpr const char* updates_name = "ema.updates";

}  // namespace

Ema::Ema(const ModelHandle& model, const EmaOptions& options) : model_(model), options_(options) {
  if (!(options.decay >= 0 && options.decay <= 1)) {
    throw ConfigError("Ema: a decay of " + std::to_string(options.decay) +
                      "; it lies between 0 and 1");
  }
  const auto& prepared = Internals::of(model_);
  if (prepared.strategy->stage() != 0) {
    throw UnsupportedError("Ema: the model is sharded over the ranks (" +
                           std::string(prepared.strategy->name()) + "); use the strategy ddp");
  }
  for (const auto& [name, tensor] : tensors_of(*prepared.module).parameters) {
    if (!tensor.is_floating_point()) continue;
    names_.push_back(name);
    weights_.push_back(tensor);
    averages_.push_back(tensor.detach().clone());
  }
}

void Ema::update(const Optimizer& optimizer) {
  if (optimizer.steps() == seen_) return;
  seen_ = optimizer.steps();
  ++updates_;
  auto decay = options_.decay;
  if (options_.warm_up) {
    const auto n = static_cast<double>(updates_);
    decay = std::min(decay, (1 + n) / (10 + n));
  }
  const c10::NoGradGuard no_grad;
  at::_foreach_lerp_(averages_, weights_, 1 - decay);
}

Ema::Applied::Applied(Ema& ema) : weights_(ema.weights_) {
  const c10::NoGradGuard no_grad;
  for (const auto& weight : weights_) own_.push_back(weight.detach().clone());
  for (std::size_t i = 0; i < weights_.size(); ++i) weights_[i].copy_(ema.averages_[i]);
}

Ema::Applied::~Applied() {
  const c10::NoGradGuard no_grad;
  for (std::size_t i = 0; i < weights_.size(); ++i) weights_[i].copy_(own_[i]);
}

std::map<std::string, at::Tensor> Ema::state() const {
  std::map<std::string, at::Tensor> state;
  for (std::size_t i = 0; i < names_.size(); ++i) state[names_[i]] = averages_[i].clone();
  state[updates_name] = at::scalar_tensor(updates_, at::kLong);
  return state;
}

void Ema::load_state(const std::map<std::string, at::Tensor>& state) {
  if (state.size() != names_.size() + 1 || !state.contains(updates_name)) {
    throw CheckpointError("Ema: the state has " + std::to_string(state.size()) +
                          " tensors; the model's has " + std::to_string(names_.size() + 1));
  }
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto found = state.find(names_[i]);
    if (found == state.end()) throw CheckpointError("Ema: the state has no '" + names_[i] + "'");
    if (found->second.sizes() != averages_[i].sizes()) {
      throw CheckpointError("Ema: '" + names_[i] + "' is " + describe_tensor(found->second) +
                            " in the state and " + describe_tensor(averages_[i]) + " in the model");
    }
  }
  const c10::NoGradGuard no_grad;
  for (std::size_t i = 0; i < names_.size(); ++i) averages_[i].copy_(state.at(names_[i]));
  updates_ = state.at(updates_name).item<std::int64_t>();
}

}  // namespace muster
