#include <muster/autocast.hpp>

#include <ATen/autocast_mode.h>

namespace muster {

Autocast::Autocast(c10::DeviceType device, std::optional<c10::ScalarType> dtype)
    : before_(Before{device, at::autocast::is_autocast_enabled(device),
                     at::autocast::get_autocast_dtype(device)}) {
  at::autocast::increment_nesting();
  at::autocast::set_autocast_enabled(device, dtype.has_value());
  if (dtype) at::autocast::set_autocast_dtype(device, *dtype);
}

Autocast::~Autocast() {
  if (!before_) return;
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(before_->device, before_->enabled);
  at::autocast::set_autocast_dtype(before_->device, before_->dtype);
}

void Autocast::forget_weights() { at::autocast::clear_cache(); }

}  // namespace muster
