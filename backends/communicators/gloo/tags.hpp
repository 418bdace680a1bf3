#pragma once

namespace muster::gloo::tag {

// A tag has 30 bits (Links needs one more). Up to 28 are the user's, for send and receive.

constexpr int own = 1 << 29;
constexpr int letter = own + 1;  ///< The first message of a collective.
constexpr int part = own + 2;    ///< Data that goes from one rank to another.
constexpr int reduce = own + 3;  ///< Slices on their way to who folds them.
constexpr int gather = own + 4;  ///< Folded slices on their way back.
constexpr int goodbye = own + 5;
constexpr int never = own + 6;  ///< Nobody sends with this one.

constexpr int bulk = 1 << 29;  ///< + a running number: the data of a large send.
constexpr unsigned bulk_count = 1U << 28;

}  // namespace muster::gloo::tag
