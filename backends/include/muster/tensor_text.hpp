#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace muster {

/// "float32", "bfloat16", "complex64", as Python names them; LibTorch's own name for others.
std::string to_text(at::ScalarType dtype);

/// "[3, 4]"; "[]" for a scalar.
std::string to_text(at::IntArrayRef sizes);

/// "[64, 1, 3, 3] float32", or "undefined".
std::string describe_tensor(const at::Tensor& tensor);

}  // namespace muster
