#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>

namespace muster {

/// Throws ConfigError that begins with `who` unless these are tokens: [n] of uint8, 16, 32 or
/// int16, 32, 64 on the CPU.
void require_tokens(const at::Tensor& tokens, std::string_view who);

/// Writes tokens[begin .. begin + count) to `to`. `tokens` is contiguous.
void read_tokens(const at::Tensor& tokens, std::int64_t begin, std::int64_t count,
                 std::int64_t* to);

}  // namespace muster
