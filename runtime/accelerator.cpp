#include <muster/accelerator.hpp>

#include "accelerator_state.hpp"

#include <algorithm>
#include <exception>
#include <limits>

namespace muster {

Accelerator::Accelerator(const AcceleratorOptions& options)
    : Processes(std::make_shared<AcceleratorState>(options)) {}
Accelerator::~Accelerator() = default;
Accelerator::Accelerator(Accelerator&&) noexcept = default;
Accelerator& Accelerator::operator=(Accelerator&&) noexcept = default;

double Accelerator::clip_grad_norm(const ModelHandle& model, double max_norm, double norm_type) {
  auto& prepared = *model.prepared_;
  if (!prepared.synchronises) return std::numeric_limits<double>::quiet_NaN();
  return prepared.strategy->clip_grad_norm(max_norm, norm_type, {});
}

double Accelerator::clip_grad_norm(const ModelHandle& model,
                                   const std::vector<at::Tensor>& parameters, double max_norm,
                                   double norm_type) {
  auto& prepared = *model.prepared_;
  if (!prepared.synchronises) return std::numeric_limits<double>::quiet_NaN();
  // No tensors are all of them, to a strategy.
  if (parameters.empty()) return 0;
  return prepared.strategy->clip_grad_norm(max_norm, norm_type, parameters);
}

void Accelerator::clip_grad_value(const ModelHandle& model, double value) {
  auto& prepared = *model.prepared_;
  if (!prepared.synchronises) return;
  prepared.strategy->clip_grad_value(value);
}

bool Accelerator::optimizer_step_was_skipped() const noexcept {
  return std::ranges::any_of(state_->optimizers, [](const auto& kept) {
    const auto optimizer = kept.lock();
    return optimizer && optimizer->skipped;
  });
}

int Accelerator::gradient_accumulation_steps() const noexcept {
  return state_->settings.settings().train.gradient_accumulation_steps;
}

void Accelerator::free_memory() {
  state_->scopes.clear();
  state_->schedulers.clear();
  state_->optimizers.clear();
  state_->models.clear();
}

void Accelerator::end_training() {
  std::exception_ptr trouble;
  try {
    end_trackers();
  } catch (const TrackerError&) {
    trouble = std::current_exception();  // The other ranks are not to wait for this one.
  }
  const auto mesh = state_->mesh();
  // First, for a group that was lost is to be left too: then waiting throws.
  free_memory();
  state_->session.reset();
  mesh->world().barrier("end_training").wait();
  if (trouble) std::rethrow_exception(trouble);
}

}  // namespace muster
