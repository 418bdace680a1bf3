#pragma once

#include <muster/work.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>

namespace muster {

/// Memory of peers that can be read without their help. Later communicators have it.
class Windows {
 public:
  virtual ~Windows() = default;
  /// Copies elements [offset, offset + output.numel()) of what `peer` exposed as `name`.
  virtual Work get(at::Tensor output, int peer, std::string_view name, std::int64_t offset) = 0;
  /// Collective. Makes `tensor` readable for all under `name` until it is called again.
  virtual void expose(std::string_view name, at::Tensor tensor) = 0;
};

}  // namespace muster
