#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace muster {

class PartVisitor;

/// A batch as one block of bytes, [n]: what its parts are (kinds, lengths, dtypes, shapes), then
/// the tensors' elements. `visit` shows the batch's parts to a visitor. Throws UnsupportedError for
/// a tensor that is not dense.
at::Tensor pack(const std::function<void(PartVisitor&)>& visit);

/// Fills a batch of the same type, whose parts `visit` shows. Its tensors keep `bytes`, in which
/// they lie. Throws ModelError if the bytes are of another type of batch.
void unpack(const at::Tensor& bytes, const std::function<void(PartVisitor&)>& visit);

}  // namespace muster
