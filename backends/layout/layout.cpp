#include <muster/layout.hpp>

#include <functional>
#include <numeric>
#include <utility>

namespace muster {
namespace {

std::int64_t product(const std::vector<std::int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

}  // namespace

std::int64_t Piece::numel() const {
  return interval ? interval->end - interval->begin : product(extent);
}

std::int64_t Layout::numel() const { return product(shape); }

std::int64_t Layout::local_numel() const {
  std::int64_t sum = 0;
  for (const auto& piece : pieces) {
    sum += piece.numel();
  }
  return sum;
}

Layout replicated(std::string name, Role role, c10::ScalarType dtype,
                  std::vector<std::int64_t> shape, int replica) {
  Layout layout;
  layout.name = std::move(name);
  layout.role = std::move(role);
  layout.dtype = dtype;
  layout.replica = replica;
  layout.pieces = {{std::vector<std::int64_t>(shape.size(), 0), shape, std::nullopt}};
  layout.shape = std::move(shape);
  return layout;
}

}  // namespace muster
