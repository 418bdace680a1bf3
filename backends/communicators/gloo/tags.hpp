#pragma once

#include "communicators/arguments.hpp"

#include <cstdint>

namespace muster::gloo::tag {

/// Tags from `first` to `last`. All are below `end`, so that Links can number connections with
/// them.
struct Range {
  int first;
  int last;
  /// The one of `number`, which many numbers share.
  constexpr int of(std::uint64_t number) const {
    return first + static_cast<int>(number % static_cast<std::uint64_t>(last - first + 1));
  }
  constexpr bool has(int tag) const { return first <= tag && tag <= last; }
};
constexpr int end = 1 << 28;

// A message must not meet a receive of another kind, so no two ranges share a tag.

constexpr Range user{0, largest_tag};                      ///< The letters of send and receive.
constexpr Range bulk{1 << 27, (1 << 27) + (1 << 26) - 1};  ///< By number: the data of a large send.
constexpr Range own{3 << 26, (3 << 26) + 15};              ///< The rest of what groups say.
/// By what is asked for: slices on their way to who folds them.
constexpr Range reduce{(3 << 26) + (1 << 25), end - 1};
static_assert(user.last < bulk.first && bulk.last < own.first && own.last < reduce.first);

constexpr int letter = own.of(0);  ///< The first message of a collective.
constexpr int part = own.of(1);    ///< Data that goes from one rank to another.
constexpr int gather = own.of(2);  ///< Folded slices on their way back.
constexpr int goodbye = own.of(3);
constexpr int never = own.of(4);  ///< Nobody sends with this one.

}  // namespace muster::gloo::tag
