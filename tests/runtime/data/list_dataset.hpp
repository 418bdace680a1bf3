#pragma once

#include <ATen/ops/scalar_tensor.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace muster::test {

/// Sample i is the number i.
struct IdDataset {
  std::int64_t samples;
  std::shared_ptr<std::vector<std::int64_t>> reads =
      nullptr;            ///< If given: the indices asked for. One thread only.
  std::int64_t bad = -1;  ///< This sample throws.

  std::size_t size() const { return static_cast<std::size_t>(samples); }
  at::Tensor get(std::size_t index) const {
    const auto id = static_cast<std::int64_t>(index);
    if (reads) reads->push_back(id);
    if (id == bad) throw std::out_of_range("bad-" + std::to_string(id));
    return at::scalar_tensor(id, at::TensorOptions(at::kLong));
  }
};

inline std::vector<std::int64_t> ids_of(const at::Tensor& batch) {
  const auto* first = batch.const_data_ptr<std::int64_t>();
  return {first, first + batch.numel()};
}

/// The batches of one epoch.
template <class Loader>
std::vector<std::vector<std::int64_t>> epoch_of(Loader& loader) {
  std::vector<std::vector<std::int64_t>> batches;
  for (auto& batch : loader) batches.push_back(ids_of(batch));
  return batches;
}

}  // namespace muster::test
