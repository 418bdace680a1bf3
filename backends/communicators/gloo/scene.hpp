#pragma once

#include "communicators/gloo/letters.hpp"
#include "communicators/gloo/memory.hpp"
#include "communicators/gloo/traffic.hpp"

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace muster::gloo {

/// The ranks asked for different operations at the same place.
class Disagreement : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

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

/// A part of a flat tensor, in elements.
struct Slice {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

/// One a rank, by counts, or equal if there are none.
std::vector<Slice> slices(std::int64_t numel, const std::vector<std::int64_t>& counts, int size);

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
