#include "checkpoint/safetensors_dtype.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace muster {
namespace {

using c10::ScalarType;

constexpr std::array<std::pair<std::string_view, ScalarType>, 17> dtypes{{
    {"F64", ScalarType::Double},
    {"F32", ScalarType::Float},
    {"F16", ScalarType::Half},
    {"BF16", ScalarType::BFloat16},
    {"F8_E4M3", ScalarType::Float8_e4m3fn},
    {"F8_E5M2", ScalarType::Float8_e5m2},
    {"F8_E8M0", ScalarType::Float8_e8m0fnu},
    {"I64", ScalarType::Long},
    {"I32", ScalarType::Int},
    {"I16", ScalarType::Short},
    {"I8", ScalarType::Char},
    {"U64", ScalarType::UInt64},
    {"U32", ScalarType::UInt32},
    {"U16", ScalarType::UInt16},
    {"U8", ScalarType::Byte},
    {"BOOL", ScalarType::Bool},
    {"C64", ScalarType::ComplexFloat},
}};

}  // namespace

std::optional<std::string_view> safetensors_name(ScalarType dtype) noexcept {
  const auto* found = std::ranges::find(dtypes, dtype, [](const auto& row) { return row.second; });
  if (found == dtypes.end()) return std::nullopt;
  return found->first;
}

std::optional<ScalarType> safetensors_dtype(std::string_view name) noexcept {
  const auto* found = std::ranges::find(dtypes, name, [](const auto& row) { return row.first; });
  if (found == dtypes.end()) return std::nullopt;
  return found->second;
}

std::string safetensors_names() {
  std::string text;
  for (const auto& [name, dtype] : dtypes) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

}  // namespace muster
