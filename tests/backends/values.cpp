#include "backends/values.hpp"

#include <ATen/ops/empty.h>
#include <c10/core/ScalarType.h>

#include <cmath>
#include <cstring>

namespace muster::test {

at::Tensor values(int rank, at::IntArrayRef shape, at::ScalarType dtype) {
  const bool whole = c10::isIntegralType(dtype, true);
  auto tensor = at::empty(shape, at::kDouble);
  auto* const data = tensor.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    const auto mixed =
        static_cast<std::uint64_t>(i * 7919 + rank * 104729 + 12345) * 0x9e3779b97f4a7c15;
    const auto integer = static_cast<int>(mixed >> 40 & 0xff) % 19 - 9;
    const int exponent = static_cast<int>(mixed >> 50 & 0x0f) - 8;
    data[i] = whole ? integer : std::ldexp(integer + rank / 3.0 + 0.1, exponent);
  }
  // Unsigned integers get what small negative numbers wrap around to.
  return (whole && dtype != at::kBool ? tensor.to(at::kLong) : tensor).to(dtype);
}

at::Tensor sum_in_order(const std::vector<at::Tensor>& ranks, at::ScalarType output) {
  const auto input = ranks.front().scalar_type();
  const bool narrow = output == at::kHalf || output == at::kBFloat16;
  const auto wide = narrow ? at::kFloat : output;
  if (input == at::kUInt16 || input == at::kUInt32 || input == at::kUInt64) {
    auto sum = ranks.front().to(at::kLong);
    for (std::size_t i = 1; i < ranks.size(); ++i) {
      sum.add_(ranks[i].to(at::kLong));
    }
    return sum.to(output);
  }
  auto sum = ranks.front().to(wide, false, true);
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    sum.add_(ranks[i].to(wide));
  }
  return sum.to(output);
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() && a.is_contiguous() &&
         b.is_contiguous() &&
         (a.nbytes() == 0 || std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0);
}

}  // namespace muster::test
