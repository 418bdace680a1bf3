#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// Where the default generators of one rank's devices stand: a value, to keep or to write down.
struct RngState {
  int rank = 0;
  std::map<std::string, at::Tensor> generators{};  ///< "cpu", "cuda:0": [bytes] uint8.

  std::string to_bytes() const;
  /// Throws CheckpointError for what to_bytes() did not make.
  static RngState from_bytes(std::string_view bytes);
};

/// The state for rank `rank` of a job whose ranks had `saved`, in rank order, when it was saved. A
/// rank that was there goes on with its own stream. One that was not gets a stream of its own,
/// which is a function of `saved` and its number only. Throws CheckpointError for an empty list.
RngState rng_state_for(int rank, const std::vector<RngState>& saved);

}  // namespace muster
