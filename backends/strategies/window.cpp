#include "window.hpp"

#include <ATen/ops/from_blob.h>

#include <vector>

namespace muster {

at::Tensor make_window(const at::Tensor& flat, std::int64_t offset, at::IntArrayRef sizes,
                       at::IntArrayRef strides) {
  auto* memory = static_cast<char*>(flat.mutable_data_ptr()) + offset * flat.element_size();
  return at::for_blob(memory, sizes)
      .strides(strides)
      .context(new c10::Storage(flat.storage()),
               [](void* storage) { delete static_cast<c10::Storage*>(storage); })
      .options(flat.options())
      .make_tensor();
}

at::Tensor make_window_like(const at::Tensor& flat, std::int64_t offset, const at::Tensor& like) {
  if (like.is_non_overlapping_and_dense()) {
    return make_window(flat, offset, like.sizes(), like.strides());
  }
  std::vector<std::int64_t> strides(static_cast<std::size_t>(like.dim()));
  std::int64_t stride = 1;
  for (auto dimension = strides.size(); dimension-- > 0;) {
    strides[dimension] = stride;
    stride *= like.size(static_cast<std::int64_t>(dimension));
  }
  return make_window(flat, offset, like.sizes(), strides);
}

const void* storage_of(const at::Tensor& tensor) noexcept {
  if (!tensor.defined() || !tensor.has_storage()) return nullptr;
  return tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
}

}  // namespace muster
