#pragma once

#include <string>

namespace muster::launcher {

/// Throws ConfigError if `path` cannot be written: to be asked before anything starts.
void check_report_path(const std::string& path);

/// Throws Error (internal) if it cannot be written after all.
void write_report(const std::string& path, const std::string& text);

}  // namespace muster::launcher
