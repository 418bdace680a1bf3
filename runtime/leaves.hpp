#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace muster {

/// The tensors whose gradients a backward from `root` adds to.
std::vector<at::Tensor> leaves_of(const at::Tensor& root);

}  // namespace muster
