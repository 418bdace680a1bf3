#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace gan {

/// Pictures side by side, in lines of characters. images: [n, 1, rows, columns], 0 to 1.
std::string drawing(const at::Tensor& images);

}  // namespace gan
