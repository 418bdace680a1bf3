#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::launcher {

/// What others wrote, for messages: at most `limit` bytes, on one line, with nothing that a
/// terminal would obey; what is no whole letter of UTF-8 becomes a question mark.
std::string printable(std::string_view text, std::size_t limit = 60);

}  // namespace muster::launcher
