#pragma once

#include <muster/operation.hpp>

#include "communicators/header.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace muster {

/// A part of a flat tensor, in elements.
struct Slice {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

/// One a rank, by counts, or equal if there are none.
std::vector<Slice> slices(std::int64_t numel, const std::vector<std::int64_t>& counts, int size);

/// What a rank sees of all when they meet at an operation.
struct Meeting {
  int rank;
  int size;
  bool strict;  ///< Labels have to be equal too.
  Header mine;
  std::function<const Header&(int peer)> theirs;
};

/// `expected`: elements that must come from each rank (all_gather, all_to_all). Throws
/// Disagreement with what each rank asked for.
void require_agreement(const Meeting& meeting, const std::vector<std::int64_t>& expected);

/// Throws Disagreement unless the message that `theirs` tells of fits into `receive`'s tensor.
void require_fit(const Operation& receive, const Header& theirs);

}  // namespace muster
