#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace muster {

/// What the plan must know of a parameter that is trained.
struct ParameterShape {
  std::int64_t numel = 0;
  c10::ScalarType dtype = c10::ScalarType::Float;
  c10::Device device = c10::kCPU;
};

/// Where a parameter lies in its bucket, in elements.
struct Slot {
  std::size_t parameter = 0;  ///< Index among those that were planned.
  std::size_t bucket = 0;
  std::int64_t offset = 0;
  std::int64_t numel = 0;
  std::int64_t padded = 0;  ///< numel and the zeros up to the next slot.
};

/// Flat memory for neighbouring parameters of one dtype on one device.
struct BucketPlan {
  c10::ScalarType dtype = c10::ScalarType::Float;
  c10::Device device = c10::kCPU;
  std::int64_t numel = 0;
  std::size_t first = 0, last = 0;  ///< Its slots: [first, last) of Plan::slots.
};

/// Buckets in the order in which backward is expected to fill them; slots bucket by bucket, in
/// memory order.
struct Plan {
  std::vector<BucketPlan> buckets;
  std::vector<Slot> slots;
};

/// Elements that a slot's size and offset are multiples of: 64 bytes, and 16 elements. Fused
/// kernels treat the rest of a vector differently, so that sums would depend on where a slice is
/// cut.
std::int64_t slot_alignment(c10::ScalarType dtype);

/// Fills buckets with the parameters from the last to the first, one bucket a (dtype, device) at a
/// time; a bucket is closed once it holds `first_bytes`, later ones `bytes`. So one may be larger
/// by a parameter.
Plan plan_buckets(std::span<const ParameterShape> parameters, std::int64_t first_bytes,
                  std::int64_t bytes);

}  // namespace muster
