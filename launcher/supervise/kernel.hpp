#pragma once

#include "unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <sys/types.h>

/// Calls of newer kernels, with what to do where a kernel or a sandbox denies them.
namespace muster::launcher {

/// CLOCK_MONOTONIC. Safe after fork and in signal handlers.
std::int64_t monotonic_ns() noexcept;

/// A descriptor of the process; none where the kernel has no such thing or a sandbox denies it.
UniqueFd open_pidfd(pid_t pid) noexcept;

/// Signals exactly the process behind `pidfd`; by number if there is no pidfd. `pid` must be
/// above 1.
bool signal_process(const UniqueFd& pidfd, pid_t pid, int signal) noexcept;

/// Makes what its children leave behind children of this process. False where that is denied: then
/// such processes belong to somebody else.
bool become_subreaper() noexcept;

/// Closes every descriptor from `first` on. Allocates nothing: it may be called between fork and
/// exec.
void close_from(int first) noexcept;

/// Memory of `size` zero bytes without a name, close-on-exec; none where it cannot be had.
UniqueFd make_shared_memory(const char* name, std::size_t size) noexcept;

}  // namespace muster::launcher
