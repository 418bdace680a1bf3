#pragma once

#include <string_view>

namespace muster {

/// Writes all of `text` to a descriptor, in one write(2) unless the kernel takes only a part or a
/// signal comes. Waits for a slow reader also where the descriptor is non-blocking. 0, or the errno
/// of what went wrong. Safe from any thread.
int write_all(int fd, std::string_view text) noexcept;

}  // namespace muster
