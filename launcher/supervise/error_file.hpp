#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace muster::launcher {

/// What a Python program that uses torchelastic leaves in $TORCHELASTIC_ERROR_FILE when it fails.
struct ErrorFile {
  std::string message;          ///< "ValueError: label 11 is not in [0, 10)"
  std::string call_stack;       ///< Python's traceback; empty where it is not told.
  std::int64_t written_ns = 0;  ///< On the monotonic clock; exact to some milliseconds.
};

/// Nothing for a file that is not there, is older than `since_ns` or says something else. Reads at
/// most 1 MiB, and never waits.
std::optional<ErrorFile> read_error_file(const std::string& path, std::int64_t since_ns);

}  // namespace muster::launcher
