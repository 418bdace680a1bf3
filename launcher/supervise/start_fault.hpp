#pragma once

#include "supervise/protocol.hpp"

#include <string>

namespace muster::launcher {

/// Why a rank did not start, for a person, and the exit code that says so.
struct StartFault {
  int exit_code = 0;
  std::string message;  ///< One line.
};

/// `name` is the program as it was asked for, `path` where it was found (the same if nowhere).
StartFault describe_start_fault(const std::string& name, const std::string& path, StartStage stage,
                                int error);

/// What a StartRecord that is not fatal (affinity, memory, limits) means: one line.
std::string describe_start_warning(int rank, StartStage stage, int error);

}  // namespace muster::launcher
