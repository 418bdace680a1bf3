#include "fused_update.hpp"

#include <muster/device.hpp>

#include "window.hpp"

#include <c10/core/GradMode.h>
#include <torch/optim/optimizer.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace muster {

namespace {

void set_scalar(const at::Tensor& scalar, float value) {
  if (scalar.device() == at::kCPU) {
    *scalar.mutable_data_ptr<float>() = value;
  } else {
    scalar.fill_(value);
  }
}

}  // namespace

FusedUpdate::FusedUpdate(const FlatModel& model, std::vector<OwnedSlot> owned,
                         torch::optim::Optimizer& optimizer, const UpdateRule& rule)
    : model_(model),
      owned_(std::move(owned)),
      optimizer_(optimizer),
      rule_(rule),
      casts_(model.buckets().size()) {
  for (auto& flats : flats_) flats.resize(model.buckets().size());
  for (const auto& slot : owned_) {
    const auto state = rule_.existing_state(optimizer_, model_.parameter_of(slot.slot));
    for (std::size_t index = 0; index < max_states; ++index) {
      auto* tensor = state.tensors[index];
      if (tensor != nullptr && tensor->defined()) adopt(slot.slot, index, *tensor);
    }
  }
}

void FusedUpdate::step(const GradientWindow& window) {
  const at::NoGradGuard no_grad;
  auto runs = plan_runs(window);
  const bool rebuild = !same_cut(runs, runs_);
  runs_ = std::move(runs);
  if (rebuild) build_batches(window.means());
  for (auto& batch : batches_) {
    for (std::size_t index = 0; index < batch.runs.size(); ++index) {
      set_scalar(batch.slices.steps[index], static_cast<float>(runs_[batch.runs[index]].step));
    }
    for (std::size_t index = 0; index < batch.wide_gradients.size(); ++index) {
      const auto& narrow = batch.slices.gradients[index];
      device_kind(narrow.device()).kernels().cast(narrow, batch.wide_gradients[index]);
    }
    rule_.update(optimizer_.param_groups()[batch.group].options(), batch.slices);
  }
}

std::vector<FusedUpdate::Run> FusedUpdate::plan_runs(const GradientWindow& window) {
  std::vector<Run> runs;
  for (const auto& owned : owned_) {
    if (!window.has_gradient(owned.slot)) continue;
    const auto next = begin_slot(owned);
    const bool joins =
        !runs.empty() && runs.back().last + 1 == next.first &&
        model_.slots()[runs.back().last].bucket == model_.slots()[next.first].bucket &&
        std::tie(runs.back().group, runs.back().fresh, runs.back().step) ==
            std::tie(next.group, next.fresh, next.step);
    if (joins) {
      runs.back().last = next.last;
    } else {
      runs.push_back(next);
    }
  }
  return runs;
}

/// Makes the parameter's state ours and counts the step in it.
FusedUpdate::Run FusedUpdate::begin_slot(const OwnedSlot& owned) {
  const auto& options = std::as_const(optimizer_).param_groups()[owned.group].options();
  const auto state = rule_.state(optimizer_, model_.parameter_of(owned.slot), options);
  Run run;
  run.first = run.last = owned.slot;
  run.group = owned.group;
  for (std::size_t index = 0; index < max_states; ++index) {
    run.states[index] = state.tensors[index] != nullptr;
    if (!run.states[index]) continue;
    if (adopt(owned.slot, index, *state.tensors[index])) run.fresh = true;
  }
  if (state.step != nullptr) run.step = ++*state.step;
  return run;
}

/// Lets `tensor` be the window over our flat state, with the values it has. True if it had none.
bool FusedUpdate::adopt(std::size_t slot, std::size_t index, at::Tensor& tensor) {
  const auto& place = model_.slots()[slot];
  const auto flat = state_flat(place.bucket, index);
  auto* const ours =
      static_cast<char*>(flat.mutable_data_ptr()) + place.offset * flat.element_size();
  if (tensor.defined() && tensor.const_data_ptr() == ours) return false;
  const at::NoGradGuard no_grad;
  const bool fresh = !tensor.defined();
  auto window = make_window_like(flat, place.offset, model_.parameter_of(slot));
  if (fresh) {
    window.zero_();
  } else {
    window.copy_(tensor);
  }
  tensor = std::move(window);
  return fresh;
}

at::Tensor FusedUpdate::state_flat(std::size_t bucket, std::size_t index) {
  auto& flat = flats_[index][bucket];
  if (!flat.defined()) flat = model_.flat(bucket).new_zeros({model_.buckets()[bucket].numel});
  return flat;
}

bool FusedUpdate::same_cut(const std::vector<Run>& a, const std::vector<Run>& b) {
  return std::ranges::equal(a, b, [](const Run& left, const Run& right) {
    return std::tie(left.first, left.last, left.group, left.fresh, left.states) ==
           std::tie(right.first, right.last, right.group, right.fresh, right.states);
  });
}

void FusedUpdate::build_batches(const GradientBuffers& gradients) {
  batches_.clear();
  for (std::size_t index = 0; index < runs_.size(); ++index) {
    const auto& run = runs_[index];
    const auto dtype = model_.parameter_of(run.first).scalar_type();
    auto batch = std::ranges::find_if(batches_, [&](const Batch& other) {
      return other.group == run.group && other.slices.fresh == run.fresh &&
             other.slices.parameters[0].scalar_type() == dtype;
    });
    if (batch == batches_.end()) {
      batches_.emplace_back().group = run.group;
      batch = batches_.end() - 1;
      batch->slices.fresh = run.fresh;
    }
    batch->runs.push_back(index);
    add_slices(*batch, run, gradients);
  }
}

void FusedUpdate::add_slices(Batch& batch, const Run& run, const GradientBuffers& gradients) {
  const auto& begin = model_.slots()[run.first];
  const auto& end = model_.slots()[run.last];
  const auto cut = [&](const at::Tensor& flat) {
    return flat.narrow(0, begin.offset, end.offset + end.padded - begin.offset);
  };
  const auto parameter = cut(model_.flat(begin.bucket));
  auto gradient = cut(gradients.payload(begin.bucket));
  if (gradient.scalar_type() != parameter.scalar_type()) {
    auto& narrow = casts_[begin.bucket];
    if (!narrow.defined())
      narrow = model_.flat(begin.bucket).new_zeros({model_.buckets()[begin.bucket].numel});
    batch.wide_gradients.push_back(gradient);
    gradient = cut(narrow);
  }
  batch.slices.parameters.push_back(parameter);
  batch.slices.gradients.push_back(gradient);
  for (std::size_t index = 0; index < max_states; ++index) {
    if (!run.states[index]) continue;
    batch.slices.states[index].push_back(cut(state_flat(begin.bucket, index)));
  }
  batch.slices.steps.push_back(
      parameter.new_zeros({}, parameter.options().dtype(c10::ScalarType::Float)));
}

}  // namespace muster
