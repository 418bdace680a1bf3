#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace muster {

/// A tensor of the given form over flat[offset, ...), with a storage of its own that keeps flat's
/// memory alive: no view, so that LibTorch may detach it, and no autograd history. flat: [n],
/// contiguous.
at::Tensor make_window(const at::Tensor& flat, std::int64_t offset, at::IntArrayRef sizes,
                       at::IntArrayRef strides);

/// The same with the form of `like`: its memory order if it is dense, else row-major.
at::Tensor make_window_like(const at::Tensor& flat, std::int64_t offset, const at::Tensor& like);

/// The identity of a tensor's memory; null for an undefined tensor.
const void* storage_of(const at::Tensor& tensor) noexcept;

}  // namespace muster
