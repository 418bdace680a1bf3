#include "check/numbered_data.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <iterator>

namespace muster::check {

at::Tensor NumberedData::get_batch(const std::vector<std::int64_t>& indices) {
  auto batch = at::empty({std::ssize(indices)}, at::kLong);
  std::copy(indices.begin(), indices.end(), batch.mutable_data_ptr<std::int64_t>());
  return batch;
}

void append(std::vector<std::int64_t>& list, const at::Tensor& batch) {
  const auto here = batch.to(at::kCPU).contiguous();
  const auto* const numbers = here.const_data_ptr<std::int64_t>();
  list.insert(list.end(), numbers, numbers + here.numel());
}

}  // namespace muster::check
