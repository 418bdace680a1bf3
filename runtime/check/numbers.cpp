#include "check/numbers.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/max.h>
#include <ATen/ops/min.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

namespace muster::check {
namespace {

/// A mixed 64-bit number of a rank and an index (the multiplier is 2^64 divided by the golden
/// ratio).
std::uint64_t mixed(int rank, std::int64_t index) {
  auto x = (static_cast<std::uint64_t>(index) * 1000 + static_cast<std::uint64_t>(rank) + 1) *
           0x9e3779b97f4a7c15U;
  x ^= x >> 29U;
  return x * 0x9e3779b97f4a7c15U;
}

std::string text_of(const at::Tensor& values, std::int64_t index) {
  std::ostringstream text;
  text.precision(9);
  const auto element = values.flatten().select(0, index);
  if (element.is_complex()) {
    text << element.item<c10::complex<double>>();
  } else {
    text << element.to(at::kDouble).item<double>();
  }
  return text.str();
}

std::string shape_text(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.scalar_type() << ' ' << tensor.sizes();
  return text.str();
}

bool is_unsigned_wide(at::ScalarType dtype) {
  return dtype == at::kUInt16 || dtype == at::kUInt32 || dtype == at::kUInt64;
}

void fold(at::Tensor& into, const at::Tensor& next, ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      into.add_(next);
      break;
    case ReduceOp::product:
      into.mul_(next);
      break;
    case ReduceOp::min:
      into = at::min(into, next);
      break;
    case ReduceOp::max:
      into = at::max(into, next);
      break;
  }
}

/// The first element whose bytes differ; -1: none does.
std::int64_t first_unequal(const at::Tensor& a, const at::Tensor& b) {
  const auto* const left = static_cast<const char*>(a.const_data_ptr());
  const auto* const right = static_cast<const char*>(b.const_data_ptr());
  const auto bytes = a.nbytes();
  if (bytes == 0 || std::memcmp(left, right, bytes) == 0) return -1;
  const auto at = std::mismatch(left, left + bytes, right).first - left;
  return at / static_cast<std::int64_t>(a.element_size());
}

std::int64_t first_beyond(const at::Tensor& a, const at::Tensor& b, const at::Tensor& bound) {
  const auto wrong = a.to(at::kDouble).sub(b.to(at::kDouble)).abs().le(bound).logical_not();
  return wrong.any().item<bool>() ? wrong.to(at::kByte).argmax().item<std::int64_t>() : -1;
}

}  // namespace

const Numbers::Base& Numbers::base(int rank, std::int64_t numel) {
  auto& base = bases_[rank];
  if (base.wholes.defined() && base.wholes.numel() >= numel) return base;
  base.fractions = at::empty({numel}, at::kDouble);
  base.wholes = at::empty({numel}, at::kLong);
  auto* const fractions = base.fractions.mutable_data_ptr<double>();
  auto* const wholes = base.wholes.mutable_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < numel; ++i) {
    const auto x = mixed(rank, i);
    wholes[i] = static_cast<std::int64_t>(x >> 60U) - 8;  // -8 to 7
    const auto exponent = static_cast<int>(x >> 50U & 0xfU) - 8;
    const auto mantissa = static_cast<double>(x & 0xffffffU) / double{0x1000000} + 1;
    fractions[i] = std::ldexp(wholes[i] < 0 ? -mantissa : mantissa, exponent);
  }
  return base;
}

at::Tensor Numbers::of(int rank, std::int64_t numel, at::ScalarType dtype) {
  const auto& values = base(rank, numel);
  const bool whole = c10::isIntegralType(dtype, /*includeBool=*/true);
  return (whole ? values.wholes : values.fractions).narrow(0, 0, numel).to(dtype).clone();
}

std::vector<at::Tensor> Numbers::of_all(int size, std::int64_t numel, at::ScalarType dtype) {
  std::vector<at::Tensor> all;
  all.reserve(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank) all.push_back(of(rank, numel, dtype));
  return all;
}

at::Tensor reduced(const std::vector<at::Tensor>& ranks, ReduceOp op, at::ScalarType output) {
  const bool narrow = output == at::kHalf || output == at::kBFloat16;
  const auto wide = narrow ? at::kFloat : is_unsigned_wide(output) ? at::kLong : output;
  auto result = ranks.front().to(wide, /*non_blocking=*/false, /*copy=*/true);
  for (std::size_t i = 1; i < ranks.size(); ++i) fold(result, ranks[i].to(wide), op);
  return result.to(output);
}

at::Tensor rounding_bound(const std::vector<at::Tensor>& ranks, at::ScalarType dtype) {
  auto sum = ranks.front().to(at::kDouble).abs();
  for (std::size_t i = 1; i < ranks.size(); ++i) sum.add_(ranks[i].to(at::kDouble).abs());
  const double epsilon = dtype == at::kDouble     ? 0x1p-52
                         : dtype == at::kFloat    ? 0x1p-23
                         : dtype == at::kHalf     ? 0x1p-10
                         : dtype == at::kBFloat16 ? 0x1p-7
                                                  : 0;
  return sum.mul_(epsilon * static_cast<double>(ranks.size()));
}

Difference first_difference(const at::Tensor& expected, const at::Tensor& found,
                            const at::Tensor& bound) {
  const auto wanted = shape_text(expected);
  if (expected.scalar_type() != found.scalar_type() || expected.sizes() != found.sizes()) {
    return {"the tensor", wanted, shape_text(found)};
  }
  const auto a = expected.contiguous();
  const auto b = found.to(at::kCPU).contiguous();
  const auto index = bound.defined() ? first_beyond(a, b, bound) : first_unequal(a, b);
  if (index < 0) return {};
  return {"element " + std::to_string(index) + " of " + wanted, text_of(a, index),
          text_of(b, index)};
}

}  // namespace muster::check
