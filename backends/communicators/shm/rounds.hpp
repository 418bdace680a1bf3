#pragma once

#include "communicators/shm/board.hpp"

#include <cstddef>
#include <cstdint>

namespace muster::shm {

/// Data goes in rounds: every rank puts something into its slot, reads the slots of all, maybe
/// leaves a result for all, and takes theirs. All ranks go through the same rounds. For one thread.
///
/// Slots for what is put in come in pairs, used by turns: who has seen all put in for a round knows
/// that they have ended the one before, and with it all reading of the slots that are next, and of
/// results.
class Rounds {
 public:
  explicit Rounds(const Board& board) : board_(board) {}

  /// A round: put(), await_put(), then leave() and await_results() if there are results, end().
  /// Those that await block, and throw PeerGone.
  void put() { board_.publish(board_.own().put, round_ + 1); }
  void await_put() { await(&RankState::put, round_ + 1); }
  void leave() { board_.publish(board_.own().left, round_ + 1); }
  void await_results() { await(&RankState::left, round_ + 1); }
  void end() noexcept { ++round_; }

  /// Where `rank` puts in, and leaves its result, in this round.
  std::byte* input(int rank) const { return board_.slot(rank, turn()); }
  std::byte* result(int rank) const { return board_.slot(rank, 2); }

 private:
  int turn() const noexcept { return static_cast<int>(round_ % 2); }
  void await(std::atomic<std::uint64_t> RankState::*counter, std::uint64_t value) const;

  const Board& board_;
  std::uint64_t round_ = 0;
};

}  // namespace muster::shm
