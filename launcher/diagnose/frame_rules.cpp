#include "diagnose/frame_rules.hpp"

#include <vector>

namespace muster::launcher {
namespace {

using Kind = RegisterRule::Kind;

/// DW_CFA_*; the first three carry a number in their low six bits.
enum Instruction : std::uint8_t {
  advance = 0x40,
  offset = 0x80,
  restore = 0xc0,
  no_operation = 0x00,
  set_address = 0x01,
  advance1 = 0x02,
  advance2 = 0x03,
  advance4 = 0x04,
  offset_extended = 0x05,
  restore_extended = 0x06,
  undefined = 0x07,
  same_value = 0x08,
  in_register = 0x09,
  remember = 0x0a,
  restore_state = 0x0b,
  base = 0x0c,
  base_register = 0x0d,
  base_offset = 0x0e,
  base_expression = 0x0f,
  expression = 0x10,
  offset_signed = 0x11,
  base_signed = 0x12,
  base_offset_signed = 0x13,
  value_offset = 0x14,
  value_offset_signed = 0x15,
  value_expression = 0x16,
  sign_state = 0x2d,
  arguments_size = 0x2e
};

class Interpreter {
 public:
  Interpreter(RemoteMemory& memory, const FrameEntry& entry, std::uint64_t address)
      : memory_(memory), entry_(entry), address_(address), at_(entry.start) {}

  std::optional<FrameRules> run() {
    execute(entry_.common, entry_.common_end);
    initial_ = now_.rules;
    execute(entry_.instructions, entry_.instructions_end);
    return failed_ ? std::nullopt : std::optional(now_);
  }

 private:
  void execute(std::uint64_t start, std::uint64_t end) {
    RemoteReader reader(memory_, start);
    while (reader.address() < end && at_ <= address_ && !failed_) {
      const auto code = reader.take<std::uint8_t>();
      const auto low = code & 0x3fU;
      if ((code & 0xc0U) == advance) {
        at_ += low * entry_.code_factor;
      } else if ((code & 0xc0U) == offset) {
        rule(low, Kind::at_offset, factored(static_cast<std::int64_t>(reader.uleb())));
      } else if ((code & 0xc0U) == restore) {
        reset(low);
      } else if (!moves(code, reader) && !bases(code, reader)) {
        registers(code, reader);
      }
      failed_ = failed_ || reader.failed();
    }
  }

  /// Later rows of the table of one function.
  bool moves(std::uint8_t code, RemoteReader& reader) {
    switch (code) {
      case advance1:
        at_ += reader.take<std::uint8_t>() * entry_.code_factor;
        return true;
      case advance2:
        at_ += reader.take<std::uint16_t>() * entry_.code_factor;
        return true;
      case advance4:
        at_ += reader.take<std::uint32_t>() * entry_.code_factor;
        return true;
      case remember:
        saved_.push_back(now_);
        return true;
      case restore_state:
        failed_ = failed_ || saved_.empty();
        if (!saved_.empty()) {
          now_ = saved_.back();
          saved_.pop_back();
        }
        return true;
      case no_operation:
      case sign_state:
        return true;
      case arguments_size:
        reader.uleb();
        return true;
      case set_address:
        failed_ = true;  // In no code that compilers write.
        return true;
      default:
        return false;
    }
  }

  bool bases(std::uint8_t code, RemoteReader& reader) {
    switch (code) {
      case base:
        now_.base_register = reader.uleb();
        now_.base_offset = static_cast<std::int64_t>(reader.uleb());
        break;
      case base_signed:
        now_.base_register = reader.uleb();
        now_.base_offset = factored(reader.sleb());
        break;
      case base_register:
        now_.base_register = reader.uleb();
        break;
      case base_offset:
        now_.base_offset = static_cast<std::int64_t>(reader.uleb());
        break;
      case base_offset_signed:
        now_.base_offset = factored(reader.sleb());
        break;
      case base_expression:
        now_.base_expression = block(reader);
        return true;
      default:
        return false;
    }
    now_.base_expression.reset();
    return true;
  }

  void registers(std::uint8_t code, RemoteReader& reader) {
    const auto number = reader.uleb();
    switch (code) {
      case offset_extended:
        return rule(number, Kind::at_offset, factored(static_cast<std::int64_t>(reader.uleb())));
      case offset_signed:
        return rule(number, Kind::at_offset, factored(reader.sleb()));
      case value_offset:
        return rule(number, Kind::is_offset, factored(static_cast<std::int64_t>(reader.uleb())));
      case value_offset_signed:
        return rule(number, Kind::is_offset, factored(reader.sleb()));
      case in_register:
        return rule(number, Kind::other, static_cast<std::int64_t>(reader.uleb()));
      case restore_extended:
        return reset(number);
      case undefined:
        return rule(number, Kind::lost, 0);
      case same_value:
        return rule(number, Kind::same, 0);
      case expression:
        return rule(number, Kind::at_expression, 0, block(reader));
      case value_expression:
        return rule(number, Kind::is_expression, 0, block(reader));
      default:
        failed_ = true;
    }
  }

  std::int64_t factored(std::int64_t number) const { return number * entry_.data_factor; }

  static FrameExpression block(RemoteReader& reader) {
    const auto size = reader.uleb();
    const FrameExpression expression{reader.address(), reader.address() + size};
    reader.skip(size);
    return expression;
  }

  /// Of registers that are not kept here (vectors) nothing is remembered.
  void rule(std::uint64_t number, Kind kind, std::int64_t by, FrameExpression how = {}) {
    if (number < Registers::count) now_.rules[number] = {kind, by, how};
  }
  void reset(std::uint64_t number) {
    if (number < Registers::count) now_.rules[number] = initial_[number];
  }

  RemoteMemory& memory_;
  const FrameEntry& entry_;
  std::uint64_t address_, at_;
  FrameRules now_;
  std::array<RegisterRule, Registers::count> initial_{};
  std::vector<FrameRules> saved_;
  bool failed_ = false;
};

std::optional<std::uint64_t> frame_address(RemoteMemory& memory, const FrameRules& rules,
                                           const Registers& registers) {
  if (rules.base_expression)
    return evaluate(memory, *rules.base_expression, registers, std::nullopt);
  if (rules.base_register >= Registers::count || !registers.known[rules.base_register])
    return std::nullopt;
  return registers.value[rules.base_register] + static_cast<std::uint64_t>(rules.base_offset);
}

std::optional<std::uint64_t> value_by(RemoteMemory& memory, const RegisterRule& rule,
                                      std::size_t number, std::uint64_t frame,
                                      const Registers& registers) {
  std::optional<std::uint64_t> where;
  switch (rule.kind) {
    case Kind::same:
      return registers.known[number] ? std::optional(registers.value[number]) : std::nullopt;
    case Kind::lost:
      return std::nullopt;
    case Kind::is_offset:
      return frame + static_cast<std::uint64_t>(rule.offset);
    case Kind::other: {
      const auto other = static_cast<std::size_t>(rule.offset);
      if (other >= Registers::count || !registers.known[other]) return std::nullopt;
      return registers.value[other];
    }
    case Kind::is_expression:
      return evaluate(memory, rule.expression, registers, frame);
    case Kind::at_offset:
      where = frame + static_cast<std::uint64_t>(rule.offset);
      break;
    case Kind::at_expression:
      where = evaluate(memory, rule.expression, registers, frame);
      break;
  }
  std::uint64_t value = 0;
  if (!where || !memory.read(*where, value)) return std::nullopt;
  return value;
}

}  // namespace

std::optional<FrameRules> rules_at(RemoteMemory& memory, const FrameEntry& entry,
                                   std::uint64_t address) {
  return Interpreter(memory, entry, address).run();
}

std::optional<Registers> caller_of(RemoteMemory& memory, const FrameEntry& entry,
                                   const FrameRules& rules, const Registers& registers) {
  const auto frame = frame_address(memory, rules, registers);
  if (!frame || entry.return_column >= Registers::count) return std::nullopt;
  Registers caller;
  for (std::size_t i = 0; i < Registers::count; ++i) {
    const auto value = value_by(memory, rules.rules[i], i, *frame, registers);
    if (value) caller.set(i, *value);
  }
  // The stack of the caller is what this frame leaves, unless its rule says otherwise.
  if (rules.rules[Registers::stack].kind == Kind::same) caller.set(Registers::stack, *frame);
  const auto& back = rules.rules[entry.return_column];
  if (back.kind == Kind::lost) return caller;  // pc stays 0: the first function.
  if (!caller.known[entry.return_column]) return std::nullopt;
  caller.pc = without_signature(caller.value[entry.return_column]);
  return caller;
}

}  // namespace muster::launcher
