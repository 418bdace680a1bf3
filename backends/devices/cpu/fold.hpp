#pragma once

#include <muster/reduce_op.hpp>

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <span>

namespace muster::cpu {

/// How values are put together.
struct FoldKind {
  at::ScalarType output;
  at::ScalarType input;
  ReduceOp op = ReduceOp::sum;
  bool accumulate = false;  ///< Begin with what output holds; else with the first source.
  double factor = 1;        ///< Floating sums: by which the sum is multiplied before it is rounded.
};

/// output[i] = sources[0][i] op sources[1][i] op ..., from left to right, `numel` elements each.
/// float16 and bfloat16 are folded in float32 and rounded once, at the end. Integers wrap around. A
/// NaN makes the result NaN. Output may be one of the sources. Runs in the calling thread alone.
/// Combinations are those that check_arguments allows; UnsupportedError for others.
void fold(void* output, std::span<const void* const> sources, std::int64_t numel, FoldKind kind);

}  // namespace muster::cpu
