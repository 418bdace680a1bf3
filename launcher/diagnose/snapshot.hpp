#pragma once

#include "diagnose/registers.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace muster::launcher {

using Deadline = std::chrono::steady_clock::time_point;

/// One thread at one moment.
struct ThreadSnapshot {
  pid_t thread = 0;
  std::string name;
  Registers registers;
  std::vector<char> stack;  ///< From the stack pointer on, at most `stack_bytes`.
  std::string fault;        ///< Why there are no registers; empty: there are.
};

struct ProcessSnapshot {
  std::vector<ThreadSnapshot> threads;  ///< The process's first thread first.
  std::size_t unseen = 0;               ///< Threads that live but are not among them.
  std::string fault;                    ///< Why there is nothing.
};

/// How much of a stack is copied.
constexpr std::size_t stack_bytes = std::size_t{256} * 1024;

/// Stops each thread of `pid` for as long as it takes to copy its registers and stack, one after
/// the other, and lets it go on as it was: a signal that comes meanwhile is delivered, a stopped
/// process stays stopped. Threads that do not stop in time are let go when the calling thread ends.
/// Must be called in a thread that ends soon, of a process that is an ancestor of `pid`.
ProcessSnapshot take_snapshot(pid_t pid, Deadline deadline);

}  // namespace muster::launcher
