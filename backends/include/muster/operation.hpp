#pragma once

#include <muster/reduce_op.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// What one call on a communicator asks for: plain data, so that it can be queued, recorded and
/// shown.
struct Operation {
  enum class Kind {
    all_reduce,
    reduce_scatter,
    all_gather,
    broadcast,
    all_to_all,
    send,
    receive,
    barrier
  };
  Kind kind = Kind::barrier;
  std::uint64_t sequence = 0;  ///< 1 for the first operation of the group, then one more each.
  std::string label;           ///< For people: "gradients 3/5".
  at::Tensor output;           ///< Written.
  at::Tensor input;            ///< Read; the same tensor as output for calls in place.
  ReduceOp op = ReduceOp::sum;
  bool accumulate = false;  ///< reduce_scatter: add to what output holds, in rank order.
  int peer = -1;            ///< Root of a broadcast, peer of send and receive.
  int tag = 0;
  std::vector<std::int64_t> output_counts;  ///< Elements per rank; empty: equal parts.
  std::vector<std::int64_t> input_counts;
  /// all_reduce: so many leading elements of the sum are divided by the sum of the ranks' `count`s.
  std::int64_t divided = 0;
  double count = 0;

  std::uint64_t bytes() const;  ///< Of the larger of input and output.
};
std::string_view to_string(Operation::Kind kind) noexcept;

}  // namespace muster
