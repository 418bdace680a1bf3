#pragma once

#include <c10/core/ScalarType.h>

#include <optional>
#include <string>
#include <string_view>

namespace muster {

/// The format's name of a dtype ("F32"); nothing for one that it lacks.
std::optional<std::string_view> safetensors_name(c10::ScalarType dtype) noexcept;

/// The dtype of that name; nothing for one that LibTorch lacks.
std::optional<c10::ScalarType> safetensors_dtype(std::string_view name) noexcept;

/// "F64, F32, ...": those that can be read and written.
std::string safetensors_names();

}  // namespace muster
