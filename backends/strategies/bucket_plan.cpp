#include "bucket_plan.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace muster {
namespace {

/// A bucket that is being filled, or was.
struct Draft {
  std::vector<std::size_t> parameters;
  std::int64_t bytes = 0;
};

using Key = std::pair<c10::ScalarType, std::pair<int, int>>;

Key key_of(const ParameterShape& shape) {
  return {shape.dtype, {static_cast<int>(shape.device.type()), shape.device.index()}};
}

std::vector<Draft> draft_buckets(std::span<const ParameterShape> parameters,
                                 std::int64_t first_bytes, std::int64_t bytes) {
  std::vector<Draft> closed;
  std::map<Key, Draft> open;
  std::map<Key, bool> has_closed;
  for (std::size_t index = parameters.size(); index-- > 0;) {
    const auto& shape = parameters[index];
    const auto key = key_of(shape);
    auto& draft = open[key];
    draft.parameters.push_back(index);
    draft.bytes += shape.numel * static_cast<std::int64_t>(c10::elementSize(shape.dtype));
    if (draft.bytes >= (has_closed[key] ? bytes : first_bytes)) {
      closed.push_back(std::exchange(draft, {}));
      has_closed[key] = true;
    }
  }
  for (auto& [key, draft] : open) {
    if (!draft.parameters.empty()) closed.push_back(std::move(draft));
  }
  return closed;
}

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

std::int64_t slot_alignment(c10::ScalarType dtype) {
  return std::max<std::int64_t>(16, 64 / static_cast<std::int64_t>(c10::elementSize(dtype)));
}

Plan plan_buckets(std::span<const ParameterShape> parameters, std::int64_t first_bytes,
                  std::int64_t bytes) {
  auto drafts = draft_buckets(parameters, first_bytes, bytes);
  // A bucket is full when its last parameter, that with the smallest index, has its gradient.
  std::ranges::sort(drafts, std::ranges::greater{},
                    [](const Draft& draft) { return draft.parameters.back(); });
  Plan plan;
  for (const auto& draft : drafts) {
    const auto& shape = parameters[draft.parameters.front()];
    BucketPlan bucket{shape.dtype, shape.device, 0, plan.slots.size(), 0};
    for (const auto index : draft.parameters) {
      const auto numel = parameters[index].numel;
      const auto padded = round_up(numel, slot_alignment(shape.dtype));
      plan.slots.push_back({index, plan.buckets.size(), bucket.numel, numel, padded});
      bucket.numel += padded;
    }
    bucket.last = plan.slots.size();
    plan.buckets.push_back(bucket);
  }
  return plan;
}

}  // namespace muster
