#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// Numbers in the kernel's list form, "0-3,8": ascending and without repetition. An empty text is
/// an empty list; nothing if it is not such a list.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

/// The reverse: {0, 1, 2, 8} is "0-2,8". Expects ascending numbers.
std::string format_cpu_list(const std::vector<int>& numbers);

/// What is in both of two ascending lists.
std::vector<int> intersect(const std::vector<int>& a, const std::vector<int>& b);

}  // namespace muster::launcher
