#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace muster {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

}  // namespace muster
