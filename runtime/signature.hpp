#pragma once

#include <muster/communicator.hpp>

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <vector>

namespace muster::collectives {

/// What one rank called a collective with.
struct Signature {
  std::string operation;
  std::vector<std::int64_t> shape;
  at::ScalarType dtype = at::kFloat;
};

/// The signatures of all ranks, in rank order. Throws ConfigError for an undefined tensor, or one
/// of more than eight dimensions.
std::vector<Signature> exchange(Communicator& group, std::string_view operation,
                                const at::Tensor& tensor);

/// What must be equal, beside operation and dtype.
enum class Compared {
  shape,           ///< The whole shape.
  row_shape,       ///< All but the first dimension.
  rank_and_dtype,  ///< The number of dimensions, and all but one of them anyhow.
};

/// Throws ModelError with what each rank has if they differ. Every rank comes to the same result.
void require_same(const std::vector<Signature>& signatures, Compared compared);

}  // namespace muster::collectives
