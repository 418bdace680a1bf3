#pragma once

#include <string_view>

namespace muster {

/// The version of muster, and the only place that has it: CMake reads this line.
inline constexpr std::string_view version = "0.1.0";

}  // namespace muster
