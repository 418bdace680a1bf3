#include "late_gradients.hpp"

#include <muster/device.hpp>

#include "window.hpp"

#include <c10/core/GradMode.h>

namespace muster {

void LateGradients::add(std::size_t slot, const at::Tensor& gradient) {
  const at::NoGradGuard no_grad;
  const auto dense =
      gradient.layout() == at::kStrided ? gradient.detach() : gradient.detach().to_dense();
  auto& sum = gradients_[slot];
  if (sum.defined()) {
    sum.add_(dense);
  } else {
    sum = dense.to(gradient_dtype(model_.parameter_of(slot).scalar_type()));
  }
}

std::uint64_t LateGradients::reduce_into(const GradientBuffers& buffers, Communicator& communicator,
                                         const LateArrivals& arrivals) {
  const at::NoGradGuard no_grad;
  std::vector<Work> works;
  std::vector<std::pair<std::size_t, at::Tensor>> sums;
  for (std::size_t slot = 0; slot < gradients_.size(); ++slot) {
    if (arrivals.late[slot] == 0) continue;
    const auto& slice = buffers.slice(slot);
    auto sum = slice.new_zeros(slice.sizes());
    if (has(slot)) make_window_like(sum, 0, model_.parameter_of(slot)).copy_(gradients_[slot]);
    gradients_[slot].reset();
    const auto& name = model_.parameter(model_.slots()[slot]).name;
    works.push_back(communicator.all_reduce(sum, ReduceOp::sum, "late gradient of " + name));
    sums.emplace_back(slot, std::move(sum));
  }
  for (auto& work : works) work.wait();
  for (const auto& [slot, sum] : sums) {
    const double divisor = arrivals.divisors[model_.slots()[slot].bucket];
    if (divisor > 1) device_kind(sum.device()).kernels().scale(sum, 1.0 / divisor);
    buffers.slice(slot).add_(sum);
  }
  return sums.size();
}

}  // namespace muster
