#pragma once

#include <muster/operation.hpp>

#include "communicators/shm/board.hpp"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace muster::shm {

/// Sends and receives. Messages of a pair of ranks with one tag meet in the order of their calls.
class Mail {
 public:
  explicit Mail(const Board& board);

  /// Takes its place in the order. The function that is returned blocks until the message is in
  /// shared memory; throws PeerGone.
  std::function<void()> send(const Operation& operation);
  /// The same until it is here; throws Disagreement too.
  std::function<void()> receive(const Operation& operation);

 private:
  /// Peer, tag, and how many messages came before.
  using Place = std::pair<std::pair<int, int>, std::uint64_t>;
  /// A message that came before anybody asked for it, and was in the way of others.
  struct Stored {
    std::vector<std::byte> header, data;
  };

  Place next_place(std::map<std::pair<int, int>, std::uint64_t>& counts,
                   const Operation& operation);
  void deliver(const Operation& operation, std::uint64_t number);
  void collect(const Operation& operation, const Place& place);
  Parcel* free_parcel(int peer) const;
  Parcel* offered(const Place& place) const;
  /// A message that nobody here waits for, if there is no room for others.
  Parcel* obstacle(int peer) const;
  void read(Parcel& parcel, int peer, std::byte* to) const;
  void store(Parcel& parcel, int peer);

  const Board& board_;
  std::mutex mutex_;
  std::map<std::pair<int, int>, std::uint64_t> sent_, received_;
  std::map<Place, int> awaited_;
  std::map<Place, Stored> stored_;
};

}  // namespace muster::shm
