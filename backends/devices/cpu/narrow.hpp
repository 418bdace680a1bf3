#pragma once

#include "devices/cpu/clones.hpp"

#include <bit>
#include <cstdint>

namespace muster::cpu {

// float16 and bfloat16 as bits, with conversions that have no branch, so that the compiler makes
// vector code of loops over them. Both round to nearest, ties to even, as LibTorch's own do.

struct Bfloat16 {
  std::uint16_t bits;
};

struct Float16 {
  std::uint16_t bits;
};

MUSTER_INLINE float widen(Bfloat16 value) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

MUSTER_INLINE float widen(Float16 value) noexcept {
  const std::uint32_t magnitude = value.bits & 0x7fffU;
  const std::uint32_t sign = (value.bits & 0x8000U) << 16;
  // A subnormal is a count of 2^-24; multiplying a whole number does not depend on the processor's
  // treatment of subnormal floats.
  const float counted = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24F;
  const std::uint32_t small = std::bit_cast<std::uint32_t>(counted);
  const std::uint32_t normal = (magnitude << 13) + 0x38000000U;
  const std::uint32_t special = (magnitude << 13) | 0x7f800000U;
  const std::uint32_t finite = magnitude < 0x0400U ? small : normal;
  return std::bit_cast<float>(sign | (magnitude < 0x7c00U ? finite : special));
}

MUSTER_INLINE Bfloat16 to_bfloat16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return {static_cast<std::uint16_t>(nan ? 0x7fc0U : rounded)};
}

MUSTER_INLINE Float16 to_float16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t normal = (magnitude - 0x38000000U + 0x0fffU + ((magnitude >> 13) & 1U)) >> 13;
  // Next to 0.5 floats are 2^-24 apart, as subnormal float16 are: the addition does the rounding.
  const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
  const std::uint32_t small = std::bit_cast<std::uint32_t>(shifted) - 0x3f000000U;
  const std::uint32_t finite = magnitude < 0x38800000U ? small : normal;
  const std::uint32_t large = magnitude > 0x7f800000U ? 0x7e00U : 0x7c00U;
  return {static_cast<std::uint16_t>(sign | (magnitude < 0x477ff000U ? finite : large))};
}

}  // namespace muster::cpu
