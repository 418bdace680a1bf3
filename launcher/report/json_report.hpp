#pragma once

#include "plan.hpp"
#include "supervise.hpp"

#include <string>
#include <vector>

namespace muster::launcher {

/// "ok", "usage", "not_started", "rank_failed", "timeout", "interrupted", "lost"
std::string_view to_text(OutcomeKind kind);

/// The text of `--report FILE`: JSON with the same facts as the failure on the screen. `plan` may
/// be empty: then nothing was started.
std::string json_report(const Outcome& outcome, const Plan& plan,
                        const std::vector<std::string>& command_line);

/// Throws ConfigError if `path` cannot be written: to be asked before anything starts.
void check_report_path(const std::string& path);

/// Throws Error (internal) if it cannot be written after all.
void write_report(const std::string& path, const std::string& text);

/// The message of an error file as torch.distributed.elastic writes it; empty if there is none, or
/// if it is something else.
std::string read_error_file(const std::string& path);

}  // namespace muster::launcher
