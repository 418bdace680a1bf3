#include "devices/cpu/fold.hpp"

#include <muster/error.hpp>

#include "devices/cpu/clones.hpp"
#include "devices/cpu/element.hpp"

#include <algorithm>
#include <string>
#include <type_traits>

namespace muster::cpu {
namespace {

/// What is passed down to the loops.
struct Task {
  void* output;
  std::span<const void* const> sources;
  std::int64_t numel;
  bool accumulate;
  double factor;
};

/// Multiplying floating values by 1 changes no bit and, beside the memory, costs nothing.
template <class Op, class Wide>
MUSTER_INLINE Wide finish(Wide value, Wide factor) noexcept {
  if constexpr (std::is_same_v<Op, Sum> && std::is_floating_point_v<Wide>) {
    return value * factor;
  } else {
    return value;
  }
}

/// Stays in the first-level cache together with the same elements of a source.
constexpr std::int64_t block = 1024;

/// Two terms: no intermediate result is stored. Output may be one of the sources, element by
/// element.
template <class Op, class Wide, class Out, class A, class B>
MUSTER_INLINE void run_pair(Out* output, const A* a, const B* b, std::int64_t numel, Wide factor) {
  MUSTER_INDEPENDENT_ROUNDS
  for (std::int64_t i = 0; i < numel; ++i) {
    output[i] = store<Out>(finish<Op>(Op::apply(load<Wide>(a[i]), load<Wide>(b[i])), factor));
  }
}

template <class Op, class Wide, class Out, class In>
MUSTER_INLINE void run_blocks(const Task& task, Wide factor) {
  alignas(64) Wide sums[block];
  auto* const output = static_cast<Out*>(task.output);
  for (std::int64_t begin = 0; begin < task.numel; begin += block) {
    const auto count = std::min(block, task.numel - begin);
    std::size_t next = 0;
    if (task.accumulate) {
      for (std::int64_t i = 0; i < count; ++i) {
        sums[i] = load<Wide>(output[begin + i]);
      }
    } else {
      const auto* const first = static_cast<const In*>(task.sources[next++]) + begin;
      for (std::int64_t i = 0; i < count; ++i) {
        sums[i] = load<Wide>(first[i]);
      }
    }
    for (; next < task.sources.size(); ++next) {
      const auto* const values = static_cast<const In*>(task.sources[next]) + begin;
      for (std::int64_t i = 0; i < count; ++i) {
        sums[i] = Op::apply(sums[i], load<Wide>(values[i]));
      }
    }
    for (std::int64_t i = 0; i < count; ++i) {
      output[begin + i] = store<Out>(finish<Op>(sums[i], factor));
    }
  }
}

template <class Op, class Wide, class Out, class In>
MUSTER_INLINE void run(const Task& task) {
  auto* const output = static_cast<Out*>(task.output);
  const auto factor = static_cast<Wide>(task.factor);
  const auto source = [&](std::size_t index) {
    return static_cast<const In*>(task.sources[index]);
  };
  if (task.accumulate && task.sources.size() == 1) {
    run_pair<Op, Wide>(output, output, source(0), task.numel, factor);
  } else if (!task.accumulate && task.sources.size() == 2) {
    run_pair<Op, Wide>(output, source(0), source(1), task.numel, factor);
  } else {
    run_blocks<Op, Wide, Out, In>(task, factor);
  }
}

// The sums that training spends its time on.

MUSTER_CLONES void sum_floats(const Task& task) { run<Sum, float, float, float>(task); }

MUSTER_CLONES void sum_bfloat16s(const Task& task) { run<Sum, float, Bfloat16, Bfloat16>(task); }

MUSTER_CLONES void sum_float16s(const Task& task) { run<Sum, float, Float16, Float16>(task); }

MUSTER_CLONES void widen_bfloat16s(const Task& task) { run<Sum, float, float, Bfloat16>(task); }

MUSTER_CLONES void widen_float16s(const Task& task) { run<Sum, float, float, Float16>(task); }

/// The function for a sum of those, or null.
void (*frequent(const FoldKind& kind))(const Task&) {
  if (kind.op != ReduceOp::sum) {
    return nullptr;
  }
  if (kind.output == at::kFloat) {
    return kind.input == at::kFloat      ? sum_floats
           : kind.input == at::kBFloat16 ? widen_bfloat16s
           : kind.input == at::kHalf     ? widen_float16s
                                         : nullptr;
  }
  return kind.output == at::kBFloat16 ? sum_bfloat16s
         : kind.output == at::kHalf   ? sum_float16s
                                      : nullptr;
}

template <class Wide, class Out, class In>
void by_op(ReduceOp op, const Task& task) {
  switch (op) {
    case ReduceOp::sum:
      return run<Sum, Wide, Out, In>(task);
    case ReduceOp::product:
      return run<Product, Wide, Out, In>(task);
    case ReduceOp::min:
      return run<Min, Wide, Out, In>(task);
    case ReduceOp::max:
      return run<Max, Wide, Out, In>(task);
  }
}

[[noreturn]] void refuse(const FoldKind& kind) {
  throw UnsupportedError(std::string("no reduction of ") + c10::toString(kind.input) + " into " +
                         c10::toString(kind.output) + " on the CPU");
}

template <class Wide, class Out>
void by_floating_input(const FoldKind& kind, const Task& task) {
  switch (kind.input) {  // NOLINT(clang-diagnostic-switch-enum)
    case at::kFloat:
      return by_op<Wide, Out, float>(kind.op, task);
    case at::kBFloat16:
      return by_op<Wide, Out, Bfloat16>(kind.op, task);
    case at::kHalf:
      return by_op<Wide, Out, Float16>(kind.op, task);
    default:
      refuse(kind);
  }
}

void by_dtype(const FoldKind& kind, const Task& task) {
  switch (kind.output) {  // NOLINT(clang-diagnostic-switch-enum)
    case at::kFloat:
      return by_floating_input<float, float>(kind, task);
    case at::kDouble:
      return kind.input == at::kDouble ? by_op<double, double, double>(kind.op, task)
                                       : by_floating_input<double, double>(kind, task);
    case at::kBFloat16:
      return by_op<float, Bfloat16, Bfloat16>(kind.op, task);
    case at::kHalf:
      return by_op<float, Float16, Float16>(kind.op, task);
    case at::kBool:
      return by_op<bool, bool, bool>(kind.op, task);
    case at::kByte:
      return by_op<std::uint8_t, std::uint8_t, std::uint8_t>(kind.op, task);
    case at::kChar:
      return by_op<std::int8_t, std::int8_t, std::int8_t>(kind.op, task);
    case at::kShort:
      return by_op<std::int16_t, std::int16_t, std::int16_t>(kind.op, task);
    case at::kInt:
      return by_op<std::int32_t, std::int32_t, std::int32_t>(kind.op, task);
    case at::kLong:
      return by_op<std::int64_t, std::int64_t, std::int64_t>(kind.op, task);
    case at::kUInt16:
      return by_op<std::uint16_t, std::uint16_t, std::uint16_t>(kind.op, task);
    case at::kUInt32:
      return by_op<std::uint32_t, std::uint32_t, std::uint32_t>(kind.op, task);
    case at::kUInt64:
      return by_op<std::uint64_t, std::uint64_t, std::uint64_t>(kind.op, task);
    default:
      refuse(kind);
  }
}

}  // namespace

void fold(void* output, std::span<const void* const> sources, std::int64_t numel, FoldKind kind) {
  if (sources.empty() || numel == 0) {
    return;
  }
  // A complex sum is the sum of its two parts.
  if (kind.op == ReduceOp::sum && kind.input == kind.output && c10::isComplexType(kind.input)) {
    const auto part = c10::toRealValueType(kind.input);
    return fold(output, sources, 2 * numel,
                {part, part, ReduceOp::sum, kind.accumulate, kind.factor});
  }
  const bool narrows =
      kind.output != kind.input && kind.output != at::kFloat && kind.output != at::kDouble;
  if (narrows) {
    refuse(kind);
  }
  const Task task{output, sources, numel, kind.accumulate, kind.factor};
  if (auto* const loop = frequent(kind)) {
    loop(task);
  } else {
    by_dtype(kind, task);
  }
}

}  // namespace muster::cpu
