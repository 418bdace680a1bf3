#pragma once

#include "supervise/spawn.hpp"
#include "unique_fd.hpp"

#include <cstddef>

namespace muster::launcher {

/// Moves a descriptor that took the place of a closed stdin, stdout or stderr out of the way.
void keep_off_standard(UniqueFd& fd);

/// Makes room for `more` descriptors, if the limit allows it, and notes the limit that was.
void raise_file_limit(std::size_t more, Inherited& inherited);

}  // namespace muster::launcher
