#pragma once

#include <muster/communicator.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::collectives {

/// What one rank called a collective with.
struct Signature {
  /// What kind of tensor it is. Only dense ones of at most eight dimensions can take part.
  enum class Kind : std::int64_t { dense, undefined, too_many_dimensions, not_dense };

  std::string operation;
  Kind kind = Kind::dense;
  std::vector<std::int64_t> shape;
  at::ScalarType dtype = at::kFloat;
};

/// The signatures of all ranks, in rank order. `operation`: what is called, and all arguments that
/// must be equal; at most 63 letters count.
std::vector<Signature> exchange(Communicator& group, std::string_view operation,
                                const at::Tensor& tensor);

/// What must be equal, beside operation and dtype.
enum class Compared {
  shape,           ///< The whole shape.
  row_shape,       ///< All but the first dimension.
  rank_and_dtype,  ///< The number of dimensions, and all but one of them anyhow.
};

/// Throws ModelError with what each rank has if they differ, and ConfigError if they are equal and
/// cannot take part. Every rank comes to the same result.
void require_same(const std::vector<Signature>& signatures, Compared compared);

}  // namespace muster::collectives
