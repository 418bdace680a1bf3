#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace muster::test {

/// Values of rank `rank`: of very different sizes, so that sums in another order have other bits,
/// and small whole numbers for integers. Every element has another value on every rank.
at::Tensor values(int rank, at::IntArrayRef shape, at::ScalarType dtype);

/// The sum that one process gets which adds the ranks' values one after the other: in float32 (or
/// `output`, if that is wider), rounded to `output` once.
at::Tensor sum_in_order(const std::vector<at::Tensor>& ranks, at::ScalarType output);

/// Whether they have the same dtype, shape and bytes.
bool same_bits(const at::Tensor& a, const at::Tensor& b);

}  // namespace muster::test
