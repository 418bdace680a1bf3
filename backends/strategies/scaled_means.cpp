#include "scaled_means.hpp"

#include <muster/device.hpp>

namespace muster {

void ScaledMeans::unscale(std::size_t slot, const at::Tensor& mean) {
  auto& state = slots_[slot];
  if (state.checked) return;
  state.finite = device_kind(mean.device()).kernels().unscale(mean, 1 / state.scale);
  state.scale = 1;
  state.checked = true;
}

}  // namespace muster
