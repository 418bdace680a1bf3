#pragma once

#include "diagnose/frame_expression.hpp"
#include "diagnose/frame_table.hpp"
#include "diagnose/registers.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace muster::launcher {

/// How the caller's value of a register is found.
struct RegisterRule {
  enum class Kind { same, lost, at_offset, is_offset, other, at_expression, is_expression };
  Kind kind = Kind::same;
  std::int64_t offset = 0;  ///< From the frame's address; other: the register's number.
  FrameExpression expression;
};

/// How the caller's registers are found from those at one address of a function.
struct FrameRules {
  /// The frame's address is a register and an offset, or an expression.
  std::size_t base_register = 0;
  std::int64_t base_offset = 0;
  std::optional<FrameExpression> base_expression;
  std::array<RegisterRule, Registers::count> rules{};
};

/// The rules at `address`; nothing if the entry's instructions are not understood.
std::optional<FrameRules> rules_at(RemoteMemory& memory, const FrameEntry& entry,
                                   std::uint64_t address);

/// The caller's registers; pc is 0 in the first function of a thread. Nothing if the stack cannot
/// be read.
std::optional<Registers> caller_of(RemoteMemory& memory, const FrameEntry& entry,
                                   const FrameRules& rules, const Registers& registers);

}  // namespace muster::launcher
