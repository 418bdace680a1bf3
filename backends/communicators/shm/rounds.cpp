#include "communicators/shm/rounds.hpp"

namespace muster::shm {

void Rounds::await(std::atomic<std::uint64_t> RankState::*counter, std::uint64_t value) const {
  for (int step = 1; step < board_.size(); ++step) {
    const int peer = (board_.rank() + step) % board_.size();
    const auto& theirs = board_.state(peer).*counter;
    board_.await(peer, [&] { return theirs.load(std::memory_order_acquire) >= value; });
  }
}

}  // namespace muster::shm
