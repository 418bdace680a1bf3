#pragma once

#include <chrono>
#include <string_view>

namespace muster::launcher {

/// Writes all of `text` to a descriptor that other programs may share, and waits for whoever reads
/// it, but not for one that reads nothing for `patience`: what is left is dropped then. A pipe that
/// is full is made larger where that is allowed, so that its reader finds the text later. 0, or an
/// errno: EAGAIN if it was given up, EPIPE if the reader is gone, of which no signal comes.
int write_patiently(int fd, std::string_view text, std::chrono::milliseconds patience);

}  // namespace muster::launcher
