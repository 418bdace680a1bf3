#pragma once

#include <muster/communicator.hpp>
#include <muster/structure.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::collectives {

/// What one rank called a collective with.
struct Signature {
  /// What it brings. Of tensors only dense ones of at most eight dimensions can take part.
  enum class Kind : std::int64_t {
    dense,
    undefined,
    too_many_dimensions,
    not_dense,
    structure,  ///< Of several tensors; shape: their number, and the bytes that describe them.
    object,     ///< No tensor: shape: bytes, or whatever number the operation tells.
  };

  std::string operation;
  Kind kind = Kind::dense;
  std::vector<std::int64_t> shape;
  at::ScalarType dtype = at::kFloat;
  std::string path{};  ///< Of the tensor in its structure.
};

/// The signatures of a tensor on all ranks, in rank order. `operation`: what is called, and all
/// arguments that must be equal; at most 63 letters count.
std::vector<Signature> exchange(Communicator& group, std::string_view operation,
                                const at::Tensor& tensor);

/// The same for each tensor of a structure: [tensor][rank]. Throws ModelError, naming the first
/// difference, if ranks have different structures.
std::vector<std::vector<Signature>> exchange(Communicator& group, std::string_view operation,
                                             const std::vector<TensorLeaf>& leaves);

/// A number of each rank, in rank order, of a call that brings no tensor. Throws ModelError if
/// ranks call different operations.
std::vector<std::int64_t> exchange_numbers(Communicator& group, std::string_view operation,
                                           std::int64_t number);

/// What must be equal, beside operation and dtype.
enum class Compared {
  shape,           ///< The whole shape.
  row_shape,       ///< All but the first dimension.
  rank_and_dtype,  ///< The number of dimensions, and all but one of them anyhow.
};

/// Throws ModelError with what each rank has if they differ, and ConfigError if they are equal and
/// cannot take part. Every rank comes to the same result.
void require_same(const std::vector<Signature>& signatures, Compared compared);

/// Bytes of each rank, one after the other; counts: how many each has.
std::string all_gather_bytes(Communicator& group, std::string_view bytes,
                             const std::vector<std::int64_t>& counts, std::string_view label);

}  // namespace muster::collectives
