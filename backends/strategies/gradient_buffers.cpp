#include "gradient_buffers.hpp"

#include <muster/device.hpp>
#include <muster/error.hpp>

#include "window.hpp"

#include <c10/core/GradMode.h>

#include <sstream>

namespace muster {

namespace {

/// destination.copy_(source), past the dispatcher where it would take longer than the copy.
void copy_values(const at::Tensor& destination, const at::Tensor& source) {
  constexpr std::size_t small_bytes = 32 << 10;
  if (destination.nbytes() <= small_bytes && source.scalar_type() == destination.scalar_type() &&
      source.device() == destination.device() && source.is_contiguous() &&
      destination.is_contiguous()) {
    device_kind(destination.device()).kernels().cast(destination, source);
  } else {
    destination.copy_(source.detach());
  }
}

/// `gradient` is the window or a handle of the same form over its memory, as after a detach or with
/// create_graph.
bool is_window(const at::Tensor& gradient, const at::Tensor& window) {
  return storage_of(gradient) == storage_of(window) && gradient.sizes() == window.sizes() &&
         gradient.strides() == window.strides() &&
         gradient.const_data_ptr() == window.const_data_ptr();
}

/// A strided tensor of the same values that shares no memory with `window`.
at::Tensor dense_values(const at::Tensor& gradient, const at::Tensor& window) {
  if (gradient.layout() != at::kStrided) return gradient.to_dense();
  return storage_of(gradient) == storage_of(window) ? gradient.detach().clone() : gradient;
}

}  // namespace

c10::ScalarType gradient_dtype(c10::ScalarType dtype) {
  return c10::elementSize(dtype) < 4 ? c10::ScalarType::Float : dtype;
}

GradientBuffers::GradientBuffers(const FlatModel& model, Communicator& communicator,
                                 std::int64_t tail)
    : model_(model) {
  const auto& buckets = model.buckets();
  for (std::size_t index = 0; index < buckets.size(); ++index) {
    const auto& bucket = buckets[index];
    const bool is_last = index + 1 == buckets.size();
    auto flat =
        communicator.allocate(bucket.numel + (is_last ? tail : 0), gradient_dtype(bucket.dtype));
    flat.zero_();
    payloads_.push_back(flat.narrow(0, 0, bucket.numel));
    if (is_last) tail_ = flat.narrow(0, bucket.numel, tail);
    for (std::size_t slot = bucket.first; slot < bucket.last; ++slot) {
      const auto& place = model.slots()[slot];
      windows_.push_back(make_window_like(flat, place.offset, model.parameter_of(slot)));
      slices_.push_back(flat.narrow(0, place.offset, place.padded));
    }
    flats_.push_back(std::move(flat));
  }
}

bool GradientBuffers::holds(std::size_t slot) const {
  return is_window(model_.parameter_of(slot).mutable_grad(), windows_[slot]);
}

bool GradientBuffers::take_in(std::size_t slot) const {
  const at::NoGradGuard no_grad;
  auto& gradient = model_.parameter_of(slot).mutable_grad();
  const auto& window = windows_[slot];
  if (!gradient.defined()) {
    window.zero_();
    return false;
  }
  if (!is_window(gradient, window)) {
    if (gradient.sizes() != window.sizes()) {
      std::ostringstream text;
      text << "the gradient of parameter '" << model_.parameter(model_.slots()[slot]).name
           << "' has shape " << gradient.sizes() << ", the parameter was prepared with "
           << window.sizes();
      throw ModelError(text.str());
    }
    if (gradient.layout() != at::kStrided) on_sparse(slot);
    copy_values(window, dense_values(gradient, window));
  }
  gradient = window;
  return true;
}

void GradientBuffers::bind(std::size_t slot) const {
  model_.parameter_of(slot).mutable_grad() = windows_[slot];
}

}  // namespace muster
