#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster {

/// What a tensor is to the training, as the checkpoint names it ("exp_avg" is a state of an
/// optimizer).
struct Role {
  enum class Kind { parameter, gradient, master, buffer, optimizer_state };
  Kind kind = Kind::parameter;
  std::string state;  ///< optimizer_state: "exp_avg", "momentum_buffer", "step", ...
  bool operator==(const Role&) const = default;
};

/// A half-open interval of elements.
struct Interval {
  std::int64_t begin = 0, end = 0;
  bool operator==(const Interval&) const = default;
};

/// A piece of a tensor that this rank holds: a block of its index space, and of the block's
/// elements in row-major order all or an interval. So it expresses column and row splits, uneven
/// and interleaved ones, and slices of a flat bucket on top of any of these.
struct Piece {
  std::vector<std::int64_t> offset;  ///< Per dimension of the global shape.
  std::vector<std::int64_t> extent;
  std::optional<Interval> interval;
  std::int64_t numel() const;
  bool operator==(const Piece&) const = default;
};

/// Where every element of one tensor is, for one rank. Checkpoints know nothing else.
struct Layout {
  std::string name;  ///< Of the parameter or buffer: "conv1.weight".
  Role role;
  c10::ScalarType dtype = c10::ScalarType::Float;
  std::vector<std::int64_t> shape;  ///< Global, without padding; empty: a scalar.
  std::vector<int> memory_order;    ///< Dimensions from slowest to fastest; empty: row-major.
  int replica = 0;                  ///< Which copy of these pieces this is; 0 writes them.
  std::vector<Piece> pieces;        ///< Here, in this order in memory; none: absent on this rank.
  bool operator==(const Layout&) const = default;

  std::int64_t numel() const;        ///< Of the whole tensor.
  std::int64_t local_numel() const;  ///< Of the pieces here.
};

/// A layout with everything here.
Layout replicated(std::string name, Role role, c10::ScalarType dtype,
                  std::vector<std::int64_t> shape, int replica);

/// Throws ModelError, naming the tensor, unless the replica-0 pieces of these layouts (one a rank)
/// cover each element exactly once.
void require_complete(const std::vector<Layout>& ranks);

}  // namespace muster
