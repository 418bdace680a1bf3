#pragma once

#include "communicators/header.hpp"
#include "communicators/meeting.hpp"
#include "communicators/shm/rounds.hpp"

#include <cstdint>
#include <vector>

namespace muster::shm {

/// What a collective works with.
struct Scene {
  const Board& board;
  Rounds& rounds;
  std::uint64_t ordinal;  ///< Of the collective in its group, from 1.
  bool strict;            ///< Labels have to be equal too.

  int rank() const noexcept { return board.rank(); }
  int size() const noexcept { return board.size(); }
};

/// The header that a peer shows for collective `ordinal`.
Header& header_of(const Board& board, int peer, std::uint64_t ordinal);

/// Shows this rank's header, before it puts in for the first time. `sent`: all_to_all: elements for
/// each rank; all_gather: that many for all.
void announce(const Scene& scene, const Operation& operation,
              const std::vector<std::int64_t>& sent);

/// After the first await_put(): the headers of all agree. `expected`: elements that must come from
/// each rank. Throws Disagreement.
void meet(const Scene& scene, const Operation& operation,
          const std::vector<std::int64_t>& expected);

/// all_gather, broadcast, all_to_all, barrier: data is moved, as bytes.
void move(const Scene& scene, const Operation& operation);

/// all_reduce, reduce_scatter: values are folded in rank order.
void reduce(const Scene& scene, const Operation& operation);

}  // namespace muster::shm
