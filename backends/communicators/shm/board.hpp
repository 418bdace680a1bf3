#pragma once

#include "communicators/shm/layout.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace muster::shm {

/// This rank's view of the group's shared memory, and how it waits for others.
class Board {
 public:
  /// `memory` is as Layout says, and zero where no rank has written. Writes this rank's process and
  /// processors.
  Board(std::byte* memory, int rank, int size);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  /// To be called once all ranks have made theirs.
  void ready();

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  RankState& state(int rank) const { return layout_.state(memory_, rank); }
  RankState& own() const { return state(rank_); }
  std::byte* slot(int rank, int which) const { return layout_.slot(memory_, rank, which); }
  Parcel& parcel(int from, int to, int which) const {
    return layout_.parcel(memory_, from, to, which);
  }

  /// Stores a counter of this rank's and tells who waits for it.
  void publish(std::atomic<std::uint64_t>& counter, std::uint64_t value) const {
    counter.store(value, std::memory_order_release);
    ring(own().bell);
  }

  /// Blocks until `ready()`, which `peer` makes so and rings for. Throws PeerGone if it cannot any
  /// more, or close() was called.
  template <class Ready>
  void await(int peer, const Ready& ready) const {
    while (!wait_at(state(peer).bell, spins_, look_around, ready)) {
      if ((closed() || gone(peer)) && !ready()) throw_gone(peer);
    }
  }

  /// Whether a peer has closed, or its process has ended. Any thread.
  bool gone(int peer) const noexcept;

  /// From here on await() throws, here and where others wait for this rank. Any thread.
  void close() const noexcept;
  bool closed() const noexcept { return own().closed.load(std::memory_order_acquire) != 0; }

 private:
  static constexpr std::chrono::milliseconds look_around{20};
  [[noreturn]] void throw_gone(int peer) const;

  std::byte* memory_;
  Layout layout_;
  int rank_, size_;
  int spins_ = 0;
  std::vector<int> processes_;  ///< A pidfd for each peer in another process; -1: none.
};

/// A peer cannot be waited for any more.
struct PeerGone {
  int peer;
  bool closed_here;  ///< Because close() was called.
};

}  // namespace muster::shm
