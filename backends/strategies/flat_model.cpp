#include "flat_model.hpp"

#include <muster/error.hpp>

#include "window.hpp"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <utility>

namespace muster {
namespace {

std::vector<NamedTensor> without_repeats(std::vector<NamedTensor> parameters) {
  std::unordered_set<const void*> seen;
  std::erase_if(parameters, [&](const NamedTensor& parameter) {
    return !parameter.tensor.defined() ||
           !seen.insert(parameter.tensor.unsafeGetTensorImpl()).second;
  });
  return parameters;
}

void require_flat(const NamedTensor& parameter, c10::Device device) {
  const auto& tensor = parameter.tensor;
  const auto fail = [&](const std::string& why) {
    throw ModelError("parameter '" + parameter.name + "' " + why);
  };
  if (tensor.layout() != at::kStrided)
    fail("is sparse; data parallel training needs dense parameters");
  if (tensor.device() != device) {
    fail("is on " + tensor.device().str() + ", the ranks communicate on " + device.str() +
         ": move the module before prepare");
  }
  if (!tensor.requires_grad()) return;
  if (!tensor.is_leaf()) fail("is the result of an operation; only leaves can be trained");
  if (at::isComplexType(tensor.scalar_type()))
    fail("is complex; train its real and imaginary parts");
}

struct Extent {
  std::uintptr_t begin, end;
  const NamedTensor* parameter;
};

/// Moving one of two that overlap would untie them without a word.
void require_disjoint(const std::vector<NamedTensor>& parameters) {
  std::vector<Extent> extents;
  for (const auto& parameter : parameters) {
    if (!parameter.tensor.has_storage() || parameter.tensor.numel() == 0) continue;
    std::int64_t span = 1;
    for (std::int64_t dimension = 0; dimension < parameter.tensor.dim(); ++dimension) {
      span += (parameter.tensor.size(dimension) - 1) * parameter.tensor.stride(dimension);
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(parameter.tensor.const_data_ptr());
    const auto bytes = static_cast<std::uintptr_t>(span * parameter.tensor.element_size());
    extents.push_back({begin, begin + bytes, &parameter});
  }
  std::ranges::sort(extents, {}, &Extent::begin);
  for (std::size_t index = 1; index < extents.size(); ++index) {
    const auto& before = extents[index - 1];
    const auto& after = extents[index];
    if (after.begin >= before.end) continue;
    throw ModelError(
        "parameters '" + before.parameter->name + "' and '" + after.parameter->name +
        "' are two tensors over one memory; tie weights by registering one tensor twice");
  }
}

}  // namespace

FlatModel::FlatModel(std::vector<NamedTensor> parameters, c10::Device device,
                     const StrategyOptions& options)
    : parameters_(without_repeats(std::move(parameters))) {
  std::vector<ParameterShape> shapes;
  std::vector<std::size_t> trained;
  for (std::size_t index = 0; index < parameters_.size(); ++index) {
    require_flat(parameters_[index], device);
    const auto& tensor = parameters_[index].tensor;
    if (!tensor.requires_grad()) continue;
    trained.push_back(index);
    shapes.push_back({tensor.numel(), tensor.scalar_type(), tensor.device()});
  }
  require_disjoint(parameters_);
  plan_ = plan_buckets(shapes, options.first_bucket_bytes, options.bucket_bytes);
  for (std::size_t slot = 0; slot < plan_.slots.size(); ++slot) {
    plan_.slots[slot].parameter = trained[plan_.slots[slot].parameter];
    slot_of_[parameter_of(slot).unsafeGetTensorImpl()] = slot;
  }
}

std::optional<std::size_t> FlatModel::find_slot(const at::Tensor& parameter) const {
  const auto found = slot_of_.find(parameter.unsafeGetTensorImpl());
  if (found == slot_of_.end()) return std::nullopt;
  return found->second;
}

void FlatModel::move_in() {
  const at::NoGradGuard no_grad;
  for (const auto& bucket : plan_.buckets) {
    const auto& like = parameter_of(bucket.first);
    auto flat = like.detach().new_zeros({bucket.numel});
    for (std::size_t slot = bucket.first; slot < bucket.last; ++slot) {
      const auto& parameter = parameter_of(slot);
      auto window = make_window_like(flat, plan_.slots[slot].offset, parameter);
      window.copy_(parameter.detach());
      parameter.set_data(window);
    }
    flats_.push_back(std::move(flat));
  }
  remember();
}

void FlatModel::remember() {
  for (const auto& [name, tensor] : parameters_) {
    prepared_.push_back(
        {storage_of(tensor), tensor.sizes().vec(), tensor.scalar_type(), tensor.requires_grad()});
  }
}

void FlatModel::require_unchanged() const {
  for (std::size_t index = 0; index < parameters_.size(); ++index) {
    const auto& [name, tensor] = parameters_[index];
    const auto& before = prepared_[index];
    std::string change;
    if (tensor.scalar_type() != before.dtype) {
      change = std::string("its dtype was ") + c10::toString(before.dtype) + " and is " +
               c10::toString(tensor.scalar_type());
    } else if (tensor.requires_grad() != before.requires_grad) {
      change = before.requires_grad ? "it was frozen" : "it was unfrozen";
    } else if (storage_of(tensor) != before.storage) {
      change = "it has other memory";
    } else if (tensor.sizes() != before.sizes) {
      change = "it has another shape";
    }
    if (change.empty()) continue;
    throw ModelError("parameter '" + name + "' changed after prepare: " + change +
                     "; convert, move, freeze or replace parameters before prepare");
  }
}

}  // namespace muster
