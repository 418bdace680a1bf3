#include <muster/batch_source.hpp>
#include <muster/collate.hpp>
#include <muster/error.hpp>

#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>

#include <algorithm>

namespace muster {
namespace {

template <class T>
at::Tensor copied(const std::vector<T>& values, at::ScalarType dtype) {
  at::Tensor tensor =
      at::empty({static_cast<std::int64_t>(values.size())}, at::TensorOptions(dtype));
  std::copy(values.begin(), values.end(), tensor.mutable_data_ptr<T>());
  return tensor;
}

}  // namespace

at::Tensor stack(const std::vector<at::Tensor>& tensors) { return at::stack(tensors); }

at::Tensor to_tensor(const std::vector<std::int64_t>& values) { return copied(values, at::kLong); }
at::Tensor to_tensor(const std::vector<float>& values) { return copied(values, at::kFloat); }
at::Tensor to_tensor(const std::vector<double>& values) { return copied(values, at::kDouble); }
at::Tensor to_bool_tensor(const std::vector<std::int64_t>& values) {
  return copied(values, at::kLong).to(at::kBool);
}

void refuse_unsized() {
  throw ConfigError("data loader: the data set does not know its size; it needs one for an epoch");
}

}  // namespace muster
