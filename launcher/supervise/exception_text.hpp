#pragma once

#include <span>
#include <string>

namespace muster::launcher {

/// What a program's last lines say of the exception that ended it: what() of a C++ program, the
/// last line of a Python traceback, a panic of Rust or Go. Empty if they say nothing of the kind.
std::string exception_text(std::span<const std::string> lines);

}  // namespace muster::launcher
