#pragma once

#include "communicators/gloo/links.hpp"
#include "communicators/gloo/memory.hpp"
#include "communicators/header.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace muster::gloo {

/// The first messages of each collective: every rank sends every other a letter with its header
/// and, if they are small, the data. Receives of the next letters are posted before an operation
/// ends, so that most letters are sent at once. For the executing thread alone, but for arrived()
/// and newest().
class Letters {
 public:
  Letters(Links& links, int rank, int size);

  /// Bytes of data that a letter takes, equal on all ranks.
  std::size_t capacity() const noexcept { return capacity_; }

  /// The letter to `peer`, to be filled before post(); its inline_bytes of data are sent with it.
  Header& outgoing(int peer) const;
  char* outgoing_data(int peer) const;
  /// Sends the letters of a collective.
  void post();
  /// Blocks until the letters of all peers are here. Throws PeerLost.
  void await();
  /// The letter from `peer`, until prepare().
  const Header& incoming(int peer) const;
  const char* incoming_data(int peer) const;
  /// Blocks until our letters are out.
  void finish();
  /// Makes ready for the letters of the next collective, once those that came are not needed any
  /// more. Later calls do nothing until they were awaited.
  void prepare();

  // For messages about failures, from any thread.

  /// The newest header that was read from `peer`; sequence 0 if none was.
  Header newest(int peer) const;
  /// Whether the letter of collective `ordinal` is here, read or not.
  bool arrived(int peer, std::uint64_t ordinal) const;

 private:
  char* letter(bool sent, int peer) const;

  Links& links_;
  int rank_;
  int size_;
  std::size_t capacity_;
  Memory memory_;  ///< A letter from each rank, then one to each.
  bool prepared_ = false;
  std::vector<Ticket> receives_;
  std::vector<Ticket> sends_;
  mutable std::mutex mutex_;
  std::vector<Header> newest_;
};

}  // namespace muster::gloo
