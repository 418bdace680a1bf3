#include "parameter_layout.hpp"

#include <algorithm>
#include <numeric>

namespace muster {
namespace {

/// Dimensions from the one of the widest stride to that of the narrowest.
std::vector<int> memory_order(const at::Tensor& tensor) {
  std::vector<int> order(static_cast<std::size_t>(tensor.dim()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](int dimension) { return tensor.stride(dimension); });
  return order;
}

}  // namespace

std::vector<Layout> replicated_parameters(std::span<const NamedTensor> parameters, int rank) {
  std::vector<Layout> layouts;
  for (const auto& [name, tensor] : parameters) {
    auto layout = replicated(name, {Role::Kind::parameter, ""}, tensor.scalar_type(),
                             tensor.sizes().vec(), rank);
    if (!tensor.is_contiguous() && tensor.is_non_overlapping_and_dense()) {
      layout.memory_order = memory_order(tensor);
    }
    layouts.push_back(std::move(layout));
  }
  return layouts;
}

}  // namespace muster
