#pragma once

#include "data/disk/mapped_file.hpp"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>

namespace muster {

/// Where a tensor lies in a file.
struct TensorPlace {
  std::size_t offset = 0;  ///< In bytes.
  at::ScalarType dtype = at::kByte;
  at::DimVector sizes;
  at::DimVector strides;  ///< In elements.
};

/// The tensor at `place`, which is inside the file. It keeps the file mapped, unless it begins
/// where its dtype cannot be read: then it is a copy.
at::Tensor tensor_in(const std::shared_ptr<const MappedFile>& file, const TensorPlace& place);

/// The strides of a tensor that lies row by row.
at::DimVector row_major(at::IntArrayRef sizes);

}  // namespace muster
