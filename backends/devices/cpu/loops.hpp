#pragma once

#include <ATen/core/Tensor.h>

namespace muster::cpu {

// The functions of muster::Kernels for CPU tensors; device.hpp says what they do. They run in the
// calling thread alone, but for a cast between dtypes that gradients do not have, for which
// LibTorch may use its threads.

void sum_into(const at::Tensor& destination, const at::Tensor& source);
double square_sum(const at::Tensor& values);
void scale(const at::Tensor& destination, double factor);
void cast(const at::Tensor& destination, const at::Tensor& source);
bool unscale(const at::Tensor& values, double factor);

}  // namespace muster::cpu
