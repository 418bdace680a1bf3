#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// How messages name things.

/// "float32", "bfloat16", ...; LibTorch's own name for what has none.
std::string to_text(at::ScalarType dtype);

/// "[3, 4]"; "[]" for a scalar.
std::string to_text(at::IntArrayRef sizes);

/// "cpu", "cuda:1".
std::string to_text(at::Device device);

/// "5.0 s", "250 ms".
std::string to_text(std::chrono::milliseconds time);

/// "rank 3".
std::string rank_text(int rank);

/// "rank 3", "ranks 1, 4 and 6", "no rank".
std::string ranks_text(const std::vector<int>& ranks);

/// Without the stack trace that LibTorch appends to its messages.
std::string first_line(std::string_view text);

}  // namespace muster
