#pragma once

#include <muster/log.hpp>

namespace muster {

/// log() with a program's own name in place of "muster".
void log_as(std::string_view name, LogLevel level, std::string_view message) noexcept;

}  // namespace muster
