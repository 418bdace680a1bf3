#include "diagnose/unwind.hpp"

#include "diagnose/frame_rules.hpp"
#include "diagnose/frame_table.hpp"

#include <optional>

namespace muster::launcher {
namespace {

constexpr std::size_t most_frames = 100;

/// By the chain that code with frame pointers keeps.
std::optional<Registers> caller_by_chain(RemoteMemory& memory, const MemoryMap& map,
                                         const Registers& registers) {
  if (!registers.known[Registers::frame]) return std::nullopt;
  const auto frame = registers.value[Registers::frame];
  std::uint64_t next = 0, back = 0;
  constexpr std::uint64_t word = sizeof next;
  if (frame < registers.sp() || frame % word != 0 || !memory.read(frame, next) ||
      !memory.read(frame + word, back))
    return std::nullopt;
  Registers caller;
  caller.set(Registers::frame, next);
  caller.set(Registers::stack, frame + 2 * word);
  caller.pc = without_signature(back);
  const auto* const code = map.find(caller.pc);
  if (!code || !code->executable) return std::nullopt;
  return caller;
}

}  // namespace

Unwound unwind(RemoteMemory& memory, const MemoryMap& map, Registers registers) {
  Unwound stack;
  bool interrupted = true;  // The innermost function, and what a signal interrupted, did not call.
  while (stack.frames.size() < most_frames) {
    const auto address = interrupted ? registers.pc : registers.pc - 1;
    stack.frames.push_back({.address = address, .function = {}, .module = {}, .offset = 0});
    const auto entry = find_frame_entry(memory, map, address);
    if (entry && entry->signal) stack.frames.back().function = "(signal)";
    const auto rules = entry ? rules_at(memory, *entry, address) : std::nullopt;
    const auto caller = rules ? caller_of(memory, *entry, *rules, registers)
                              : caller_by_chain(memory, map, registers);
    if (!caller) {
      stack.end =
          rules ? "its stack cannot be read further up" : "no unwind information further up";
      return stack;
    }
    if (caller->pc == 0) return stack;
    const bool moves = caller->sp() > registers.sp() || (interrupted && caller->pc != registers.pc);
    if (!moves) {
      stack.end = "the stack leads back to itself";
      return stack;
    }
    interrupted = entry && entry->signal;
    registers = *caller;
  }
  stack.end = "it goes on";
  return stack;
}

}  // namespace muster::launcher
