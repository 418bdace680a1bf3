#pragma once

#include "tracking/late_record.hpp"

#include <ATen/core/Tensor.h>

#include <memory>
#include <string_view>
#include <variant>

namespace muster {

/// The one number in a tensor, as it is now. A tensor in main memory is read at once; one on an
/// accelerator is copied in its stream, for later. Throws ConfigError, with `name`, for a tensor
/// that is not one real number.
std::variant<TrackedValue, std::shared_ptr<tracking::LateNumber>> number_in(
    const at::Tensor& tensor, std::string_view name);

/// Throws the same, and reads nothing.
void check_number(const at::Tensor& tensor, std::string_view name);

}  // namespace muster
