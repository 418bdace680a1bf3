#include <muster/dataset.hpp>
#include <muster/error.hpp>

#include <ATen/ops/from_blob.h>
#include <ATen/ops/index_select.h>

#include <sstream>
#include <utility>

namespace muster {

TensorDataset::TensorDataset(at::Tensor data, at::Tensor target)
    : data_(std::move(data)), target_(std::move(target)), size_(0) {
  if (!data_.defined() || !target_.defined() || data_.dim() == 0 || target_.dim() == 0 ||
      data_.size(0) != target_.size(0)) {
    std::ostringstream text;
    const auto shape = [&](const at::Tensor& tensor) -> std::ostream& {
      return tensor.defined() ? text << tensor.sizes() : text << "undefined";
    };
    text << "TensorDataset: data is ";
    shape(data_) << " and target ";
    shape(target_) << ": expected tensors with as many samples in the first dimension of each";
    throw ConfigError(text.str());
  }
  size_ = data_.size(0);
}

Example<> TensorDataset::get(std::int64_t index) const {
  return {data_.select(0, index), target_.select(0, index)};
}

Example<> TensorDataset::get_batch(const std::vector<std::int64_t>& indices) const {
  // Only read, in spite of the cast that from_blob wants.
  const at::Tensor rows =
      at::from_blob(const_cast<std::int64_t*>(indices.data()),
                    {static_cast<std::int64_t>(indices.size())}, at::TensorOptions(at::kLong))
          .to(data_.device());
  return {at::index_select(data_, 0, rows),
          at::index_select(target_, 0, rows.to(target_.device()))};
}

}  // namespace muster
