#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace muster {

/// "[64, 1, 3, 3]"
std::string shape_text(at::IntArrayRef shape);
/// "float32", "int64", as Python names them.
std::string dtype_text(at::ScalarType dtype);
/// "[64, 1, 3, 3] float32", or "undefined"
std::string describe_tensor(const at::Tensor& tensor);

}  // namespace muster
