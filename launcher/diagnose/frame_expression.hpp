#pragma once

#include "diagnose/registers.hpp"
#include "diagnose/remote_memory.hpp"

#include <cstdint>
#include <optional>

namespace muster::launcher {

/// Where a small program of DWARF's lies in the process's memory.
struct FrameExpression {
  std::uint64_t start = 0, end = 0;
};

/// What the expression comes to; nothing if it holds what frames have no use for, or needs what is
/// not known. first: what its stack begins with.
std::optional<std::uint64_t> evaluate(RemoteMemory& memory, const FrameExpression& expression,
                                      const Registers& registers,
                                      std::optional<std::uint64_t> first);

}  // namespace muster::launcher
