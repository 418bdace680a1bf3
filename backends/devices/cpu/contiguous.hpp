#pragma once

#include <ATen/core/Tensor.h>

namespace muster::cpu {

// The loops read memory from end to end. Both throw ConfigError.

void require_contiguous(const at::Tensor& tensor);
/// Contiguous, and equal in elements.
void require_alike(const at::Tensor& destination, const at::Tensor& source);

}  // namespace muster::cpu
