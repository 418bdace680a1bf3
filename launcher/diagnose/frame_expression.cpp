#include "diagnose/frame_expression.hpp"

#include <utility>
#include <vector>

namespace muster::launcher {
namespace {

/// DW_OP_*, as far as compilers and libraries put them into frames.
enum Op : std::uint8_t {
  address = 0x03,
  deref = 0x06,
  const1u = 0x08,
  const1s,
  const2u,
  const2s,
  const4u,
  const4s,
  const8u,
  const8s,
  constu,
  consts,
  dup,
  drop,
  over,
  pick,
  swap,
  op_and = 0x1a,
  minus = 0x1c,
  mul = 0x1e,
  neg,
  op_not,
  op_or,
  plus,
  plus_uconst,
  shl,
  shr,
  shra,
  op_xor,
  bra,
  eq,
  ge,
  gt,
  le,
  lt,
  ne,
  skip,
  lit0 = 0x30,
  lit31 = 0x4f,
  breg0 = 0x70,
  breg31 = 0x8f,
  bregx = 0x92,
  nop = 0x96
};

class Machine {
 public:
  Machine(RemoteMemory& memory, const FrameExpression& expression, const Registers& registers,
          std::optional<std::uint64_t> first)
      : reader_(memory, expression.start), end_(expression.end), registers_(registers) {
    if (first) stack_.push_back(*first);
  }

  std::optional<std::uint64_t> run() {
    constexpr int most_steps = 1000;  // It may jump backwards.
    for (int i = 0; i < most_steps && reader_.address() < end_ && !failed_; ++i) step();
    if (failed_ || reader_.failed() || reader_.address() != end_ || stack_.empty())
      return std::nullopt;
    return stack_.back();
  }

 private:
  void push(std::uint64_t value) { stack_.push_back(value); }
  std::uint64_t pop() {
    if (stack_.empty()) {
      failed_ = true;
      return 0;
    }
    const auto value = stack_.back();
    stack_.pop_back();
    return value;
  }
  void push_from(std::size_t depth) {
    if (depth >= stack_.size()) {
      failed_ = true;
    } else {
      push(stack_[stack_.size() - 1 - depth]);
    }
  }
  void push_register(std::uint64_t number) {
    const auto offset = static_cast<std::uint64_t>(reader_.sleb());
    if (number >= Registers::count || !registers_.known[number]) {
      failed_ = true;
    } else {
      push(registers_.value[number] + offset);
    }
  }
  template <class Value>
  void push_constant() {
    push(static_cast<std::uint64_t>(static_cast<std::int64_t>(reader_.take<Value>())));
  }
  void jump(bool wanted) {
    const auto distance = reader_.take<std::int16_t>();
    if (wanted) reader_.skip(static_cast<std::uint64_t>(std::int64_t{distance}));
  }

  void step() {
    const auto op = reader_.take<std::uint8_t>();
    if (op >= lit0 && op <= lit31) {
      push(op - std::uint64_t{lit0});
    } else if (op >= breg0 && op <= breg31) {
      push_register(op - std::uint64_t{breg0});
    } else if (op == bregx) {
      push_register(reader_.uleb());
    } else if (!constant(op) && !one(op)) {
      two(op);
    }
  }

  bool constant(std::uint8_t op) {
    switch (op) {
      case const1u:
        push_constant<std::uint8_t>();
        return true;
      case const1s:
        push_constant<std::int8_t>();
        return true;
      case const2u:
        push_constant<std::uint16_t>();
        return true;
      case const2s:
        push_constant<std::int16_t>();
        return true;
      case const4u:
        push_constant<std::uint32_t>();
        return true;
      case const4s:
        push_constant<std::int32_t>();
        return true;
      case address:
      case const8u:
      case const8s:
        push_constant<std::int64_t>();
        return true;
      case constu:
        push(reader_.uleb());
        return true;
      case consts:
        push(static_cast<std::uint64_t>(reader_.sleb()));
        return true;
      default:
        return false;
    }
  }

  /// Of one value or none.
  bool one(std::uint8_t op) {
    switch (op) {
      case deref: {
        std::uint64_t value = 0;
        failed_ = !reader_.memory().read(pop(), value) || failed_;
        push(value);
        return true;
      }
      case dup:
        push_from(0);
        return true;
      case drop:
        pop();
        return true;
      case over:
        push_from(1);
        return true;
      case pick:
        push_from(reader_.take<std::uint8_t>());
        return true;
      case neg:
        push(~pop() + 1);
        return true;
      case op_not:
        push(~pop());
        return true;
      case plus_uconst:
        push(pop() + reader_.uleb());
        return true;
      case bra:
        jump(pop() != 0);
        return true;
      case skip:
        jump(true);
        return true;
      default:
        return op == nop;
    }
  }

  void two(std::uint8_t op) {
    const auto right = pop();
    const auto left = pop();
    const auto a = static_cast<std::int64_t>(left), b = static_cast<std::int64_t>(right);
    const auto bits = right < 64 ? right : 63;
    switch (op) {
      case swap:
        push(right);
        push(left);
        break;
      case op_and:
        push(left & right);
        break;
      case op_or:
        push(left | right);
        break;
      case op_xor:
        push(left ^ right);
        break;
      case plus:
        push(left + right);
        break;
      case minus:
        push(left - right);
        break;
      case mul:
        push(left * right);
        break;
      case shl:
        push(right < 64 ? left << bits : 0);
        break;
      case shr:
        push(right < 64 ? left >> bits : 0);
        break;
      case shra:
        push(static_cast<std::uint64_t>(a >> bits));
        break;
      default:
        compare(op, a, b);
    }
  }

  void compare(std::uint8_t op, std::int64_t a, std::int64_t b) {
    switch (op) {
      case eq:
        push(a == b ? 1 : 0);
        break;
      case ne:
        push(a != b ? 1 : 0);
        break;
      case ge:
        push(a >= b ? 1 : 0);
        break;
      case gt:
        push(a > b ? 1 : 0);
        break;
      case le:
        push(a <= b ? 1 : 0);
        break;
      case lt:
        push(a < b ? 1 : 0);
        break;
      default:
        failed_ = true;
    }
  }

  RemoteReader reader_;
  std::uint64_t end_;
  const Registers& registers_;
  std::vector<std::uint64_t> stack_;
  bool failed_ = false;
};

}  // namespace

std::optional<std::uint64_t> evaluate(RemoteMemory& memory, const FrameExpression& expression,
                                      const Registers& registers,
                                      std::optional<std::uint64_t> first) {
  return Machine(memory, expression, registers, first).run();
}

}  // namespace muster::launcher
