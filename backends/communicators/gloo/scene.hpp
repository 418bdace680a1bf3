#pragma once

#include "communicators/gloo/letters.hpp"
#include "communicators/gloo/memory.hpp"
#include "communicators/gloo/traffic.hpp"
#include "communicators/meeting.hpp"

#include <cstdint>
#include <vector>

namespace muster::gloo {

/// What a collective works with.
struct Scene {
  int rank;
  int size;
  Letters& letters;
  Memory& scratch;
  Traffic& traffic;
  std::uint64_t ordinal;  ///< Of the collective in its group, from 1.
  bool strict;            ///< Labels have to be equal too.
};

/// Sends this rank's letters, all filled but for what describe() says of `operation`.
void announce(const Scene& scene, const Operation& operation);

/// Reads the letters of all peers. `expected`: elements that must come from each rank.
/// Throws Disagreement with what each rank asked for.
void meet(const Scene& scene, const Operation& operation,
          const std::vector<std::int64_t>& expected);

/// all_gather, broadcast, all_to_all, barrier: data is moved, as bytes.
void move(const Scene& scene, const Operation& operation);

/// Whether relay() does it: a broadcast of much data to several ranks.
bool relays(const Scene& scene, const Operation& operation);

/// broadcast: the root sends a slice to each of the others, which pass it on among themselves, so
/// that no rank sends much more than the data once.
void relay(const Scene& scene, const Operation& operation);

/// all_reduce, reduce_scatter: values are folded in rank order.
void reduce(const Scene& scene, const Operation& operation);

}  // namespace muster::gloo
