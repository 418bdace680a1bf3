#pragma once

#include "communicators/shm/bell.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sched.h>
#include <sys/types.h>

namespace muster::shm {

// What lies in the shared memory of a group. Counters only grow; a rank writes its own and reads
// those of others, but for parcels.

inline constexpr int most_ranks = 128;
inline constexpr std::size_t slot_bytes = 256 << 10;
inline constexpr std::size_t slots_a_rank = 3;
inline constexpr std::size_t header_bytes = 256;

/// What a rank tells the others.
struct alignas(64) RankState {
  Bell bell;  ///< Rung whenever something here changes.
  std::atomic<std::uint32_t> closed;
  std::atomic<std::uint32_t> word;
  std::array<char, 2040> text;  ///< Of the word; written before it.
  pid_t process;                // This and the next are written before the ranks meet.
  cpu_set_t processors;         ///< That it may run on.

  // Rounds of data that it has ...
  alignas(64) std::atomic<std::uint64_t> put;  ///< put into its slot,
  std::atomic<std::uint64_t> left;             ///< and left a result of.

  std::atomic<std::uint64_t> arrived;  ///< Number of the newest collective that it has begun.
  /// Of the collectives with even and with odd numbers: what it is, and for all_to_all what goes to
  /// each rank.
  std::array<std::array<std::byte, header_bytes>, 2> headers;
  std::array<std::array<std::int64_t, most_ranks>, 2> sent;
};

/// A message on its way from one rank to another. The sender takes a free one.
struct alignas(64) Parcel {
  static constexpr std::size_t capacity = 32 << 10;
  enum State : std::uint32_t { free, filling, offered, accepted };
  std::atomic<std::uint32_t> state;
  std::int32_t tag;
  std::uint64_t number;  ///< How many came before it with this tag.
  std::uint64_t bytes;
  std::array<std::byte, header_bytes> header;
  std::atomic<std::uint64_t> written, taken;  ///< Bytes, in all.
  std::array<std::byte, capacity> data;       ///< A ring.
};
inline constexpr int parcels_a_pair = 4;

/// Where all that is.
class Layout {
 public:
  explicit Layout(int size) : size_(static_cast<std::size_t>(size)) {}

  std::size_t token() const { return 0; }
  RankState& state(std::byte* data, int rank) const {
    return *reinterpret_cast<RankState*>(data + 64 + index(rank) * sizeof(RankState));
  }
  /// For what a rank puts in, 0 and 1 by turns; and for its results, 2.
  std::byte* slot(std::byte* data, int rank, int which) const {
    return data + slots() +
           (index(rank) * slots_a_rank + static_cast<std::size_t>(which)) * slot_bytes;
  }
  Parcel& parcel(std::byte* data, int from, int to, int which) const {
    const std::size_t pair = index(from) * size_ + index(to);
    return *reinterpret_cast<Parcel*>(data + reserved() +
                                      (pair * parcels_a_pair + static_cast<std::size_t>(which)) *
                                          sizeof(Parcel));
  }
  /// States and slots.
  std::size_t reserved() const { return slots() + size_ * slots_a_rank * slot_bytes; }
  std::size_t bytes() const { return reserved() + size_ * size_ * parcels_a_pair * sizeof(Parcel); }

 private:
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  std::size_t slots() const {
    constexpr std::size_t page = 4096;
    return (64 + size_ * sizeof(RankState) + page - 1) / page * page;
  }

  std::size_t size_;
};

}  // namespace muster::shm
