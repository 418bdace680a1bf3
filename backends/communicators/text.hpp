#pragma once

#include <muster/communicator.hpp>

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// "float32", "bfloat16", ...; LibTorch's own name for what has none.
std::string to_text(at::ScalarType dtype);

/// "[3, 4]"; "[]" for a scalar.
std::string to_text(at::IntArrayRef sizes);

/// "cpu", "cuda:1".
std::string to_text(at::Device device);

/// "5.0 s", "250 ms".
std::string to_text(std::chrono::milliseconds time);

/// "rank 3", "ranks 1, 4 and 6", "no rank".
std::string ranks_text(const std::vector<int>& ranks);

/// Without the stack trace that LibTorch appends to its messages.
std::string first_line(std::string_view text);

/// "all_reduce #12 'loss'": how messages name an operation.
std::string title(const Operation& operation);

/// "float32 [3, 4]": what the operation reads, or what it writes; empty for a barrier.
std::string tensor_text(const Operation& operation);

std::string_view to_string(ReduceOp op) noexcept;

}  // namespace muster
