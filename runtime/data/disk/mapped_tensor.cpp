#include "data/disk/mapped_tensor.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/ScalarType.h>

#include <cstring>

namespace muster {
namespace {

std::size_t bytes_of(const TensorPlace& place) {
  std::size_t bytes = c10::elementSize(place.dtype);
  for (const std::int64_t size : place.sizes) bytes *= static_cast<std::size_t>(size);
  return bytes;
}

}  // namespace

at::Tensor tensor_in(const std::shared_ptr<const MappedFile>& file, const TensorPlace& place) {
  const std::size_t bytes = bytes_of(place);
  const at::TensorOptions options(place.dtype);
  if (bytes == 0) return at::empty(place.sizes, options);
  if (place.offset % c10::elementSize(place.dtype) == 0) {
    return at::from_blob(
        file->bytes().data() + place.offset, place.sizes, place.strides, [file](void*) {}, options);
  }
  const auto copy = std::make_shared<std::unique_ptr<std::byte[]>>(
      std::make_unique_for_overwrite<std::byte[]>(bytes));
  std::memcpy(copy->get(), file->bytes().data() + place.offset, bytes);
  return at::from_blob(
      copy->get(), place.sizes, place.strides, [copy](void*) {}, options);
}

at::DimVector row_major(at::IntArrayRef sizes) {
  at::DimVector strides(sizes.size());
  std::int64_t step = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    step *= sizes[i];
  }
  return strides;
}

}  // namespace muster
