#pragma once

#include "supervise/spawn.hpp"
#include "unique_fd.hpp"

#include <cstddef>

namespace muster::launcher {

/// Moves a descriptor that took the place of a closed stdin, stdout or stderr out of the way.
void keep_off_standard(UniqueFd& fd);

/// Throws Error if this process may never open the descriptors of that many ranks, `logs` with log
/// files.
void check_file_limit(std::size_t ranks, bool logs);

/// Makes room for the descriptors of that many ranks, and notes the limit that was. Throws Error if
/// the hard limit is too low.
void raise_file_limit(std::size_t ranks, bool logs, Inherited& inherited);

}  // namespace muster::launcher
