#pragma once

#include <string_view>

namespace muster {

/// How the values of several ranks become one.
enum class ReduceOp { sum, product, min, max };
std::string_view to_string(ReduceOp op) noexcept;

}  // namespace muster
