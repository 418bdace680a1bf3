#pragma once

#include <muster/layout.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace muster {

/// A block of index space of a tensor that rank `rank` holds: [begin, end) per dimension.
struct Box {
  std::vector<std::int64_t> begin, end;
  int rank = 0;

  std::int64_t numel() const;
};

/// The elements of `piece` as boxes that have none in common: one, or with an interval at most two
/// a dimension and one more. No empty ones. The piece must lie within its block.
std::vector<Box> boxes_of(const Piece& piece, int rank);

/// Two boxes that have an element in common, if there are such.
std::optional<std::pair<Box, Box>> find_overlap(std::vector<Box> boxes);

}  // namespace muster
