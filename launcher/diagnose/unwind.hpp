#pragma once

#include "diagnose/hang_facts.hpp"
#include "diagnose/memory_map.hpp"
#include "diagnose/registers.hpp"
#include "diagnose/remote_memory.hpp"

#include <string>
#include <vector>

namespace muster::launcher {

/// The addresses of a stack, innermost first.
struct Unwound {
  std::vector<StackFrame> frames;  ///< Only their addresses.
  std::string end;  ///< Why it ends before the thread's first function; empty: it does not.
};

/// Walks up from `registers`, by what compilers leave for exceptions, and by frame pointers where
/// there is no such thing. `memory` must have the thread's stack.
Unwound unwind(RemoteMemory& memory, const MemoryMap& map, Registers registers);

}  // namespace muster::launcher
