#include <muster/precision.hpp>

#include "accelerator_state.hpp"

namespace muster {

std::string_view Precision::mixed_precision() const noexcept {
  return state_->settings.settings().train.mixed_precision;
}

Autocast Precision::autocast(bool enabled) const {
  if (!enabled) return {state_->device.type(), std::nullopt};
  if (!state_->dtype) return {};
  return {state_->device.type(), state_->dtype};
}

void Precision::unscale_gradients() {
  if (!state_->scaler->enabled()) return;
  for (const auto& model : state_->models) {
    if (model->synchronises) model->strategy->unscale(nullptr);
  }
}

void Precision::unscale_gradients(const Optimizer& optimizer) {
  const auto& prepared = *optimizer.prepared_;
  if (!prepared.scaler || !prepared.due()) return;
  for (const auto& model : prepared.models) model->strategy->unscale(prepared.optimizer.get());
}

GradScaler& Precision::scaler() noexcept { return *state_->scaler; }
const GradScaler& Precision::scaler() const noexcept { return *state_->scaler; }

}  // namespace muster
