#pragma once

#include <string>
#include <string_view>

namespace muster {

/// `log.level` governs what ranks print through log(), and the launcher's own notes. It
/// touches neither a program's output nor errors that end a job.
enum class LogLevel { debug, info, warning, error, off };

/// Sets what this process prints through log() (default: info, or MUSTER_LOG_LEVEL), and the rank
/// named in each line (-1: none, for the launcher and for a world of one).
void configure_log(LogLevel level, int rank);

LogLevel log_level() noexcept;

/// Writes "muster: message" to stderr in one write(2), for several ranks with "[rank] " before it
/// unless the launcher already prefixes lines. Never throws; safe from any thread.
void log(LogLevel level, std::string_view message) noexcept;

}  // namespace muster
