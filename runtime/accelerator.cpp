#include <muster/accelerator.hpp>

#include "accelerator_state.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

namespace muster {
namespace {

JoinCall clip_call(const PreparedModel& model, double max_norm, double norm_type) {
  return {.kind = JoinCall::Kind::clip_norm,
          .object = Join::bit(model),
          .value = max_norm,
          .norm_type = norm_type};
}

/// Positions of `parameters` among the model's; the strategy refuses others itself.
std::vector<std::int64_t> numbers_of(const PreparedModel& model,
                                     const std::vector<at::Tensor>& parameters) {
  const auto all = model.module->parameters();
  std::vector<std::int64_t> numbers;
  for (const auto& parameter : parameters) {
    const auto found = std::ranges::find_if(
        all, [&](const auto& named) { return named.tensor.is_same(parameter); });
    if (found != all.end()) numbers.push_back(found - all.begin());
  }
  return numbers;
}

}  // namespace

Accelerator::Accelerator(const AcceleratorOptions& options)
    : Precision(std::make_shared<AcceleratorState>(options)) {}
Accelerator::~Accelerator() = default;
Accelerator::Accelerator(Accelerator&&) noexcept = default;
Accelerator& Accelerator::operator=(Accelerator&&) noexcept = default;

double Accelerator::clip_grad_norm(const ModelHandle& model, double max_norm, double norm_type) {
  auto& prepared = *model.prepared_;
  if (!prepared.synchronises) return std::numeric_limits<double>::quiet_NaN();
  if (state_->join->active()) {
    state_->join->tell(clip_call(prepared, max_norm, norm_type), std::vector<std::int64_t>());
  }
  return prepared.strategy->clip_grad_norm(max_norm, norm_type, {});
}

double Accelerator::clip_grad_norm(const ModelHandle& model,
                                   const std::vector<at::Tensor>& parameters, double max_norm,
                                   double norm_type) {
  auto& prepared = *model.prepared_;
  if (!prepared.synchronises) return std::numeric_limits<double>::quiet_NaN();
  // No tensors are all of them, to a strategy.
  if (parameters.empty()) return 0;
  if (state_->join->active()) {
    auto numbers = numbers_of(prepared, parameters);
    auto call = clip_call(prepared, max_norm, norm_type);
    call.parameters = std::ssize(numbers);
    state_->join->tell(call, std::move(numbers));
  }
  return prepared.strategy->clip_grad_norm(max_norm, norm_type, parameters);
}

void Accelerator::clip_grad_value(const ModelHandle& model, double value) {
  auto& prepared = *model.prepared_;
  if (!prepared.synchronises) return;
  if (state_->join->active()) {
    (void)state_->join->tell(
        {.kind = JoinCall::Kind::clip_value, .object = Join::bit(prepared), .value = value});
  }
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
  state_->norms.reset();
  state_->session.reset();
  mesh->world().barrier("end_training").wait();
  if (trouble) std::rethrow_exception(trouble);
}

}  // namespace muster
