#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace muster {

/// One sample, or a batch of them: what goes in and what should come out.
template <class Data = at::Tensor, class Target = at::Tensor>
struct Example {
  Data data;
  Target target;
};

/// Samples that lie in two tensors: data [samples, ...] and target [samples, ...]. Any thread may
/// read it.
class TensorDataset {
 public:
  /// Keeps the tensors, does not copy them. Throws ConfigError, with both shapes, if they are not
  /// equally long.
  TensorDataset(at::Tensor data, at::Tensor target);

  std::int64_t size() const noexcept { return size_; }
  Example<> get(std::int64_t index) const;
  /// data [indices, ...] and target [indices, ...], copied.
  Example<> get_batch(const std::vector<std::int64_t>& indices) const;

 private:
  at::Tensor data_, target_;
  std::int64_t size_;
};

}  // namespace muster
