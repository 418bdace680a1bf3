#pragma once

#include <string_view>

namespace muster {

/// How the label of an operation begins that waits in a thread of its own, maybe for long, while
/// the program goes on: the launcher is not told of it, as it says nothing of where the rank is.
inline constexpr std::string_view background = "background: ";

}  // namespace muster
