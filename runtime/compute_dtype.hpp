#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>

namespace muster {

/// Of a setting of mixed precision; nothing for "no".
std::optional<at::ScalarType> compute_dtype(const std::string& mixed_precision);

/// Throws UnsupportedError if models cannot be trained so on the device; tells `say` one line if
/// that is slow.
void require_autocast(const std::string& mixed_precision, at::Device device,
                      const std::function<void(const std::string&)>& say);

}  // namespace muster
