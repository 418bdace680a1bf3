#pragma once

#include "communicators/gloo/header.hpp"
#include "communicators/gloo/links.hpp"
#include "communicators/gloo/memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace muster::gloo {

/// The first messages of each collective: every rank sends every other a letter with its header
/// and, if they are small, the data. Receives for the next collective are always posted, so that a
/// letter is sent at once. For the executing thread alone, but for arrived() and newest().
class Letters {
 public:
  /// Bytes of data that a letter takes.
  static constexpr std::size_t capacity = 8192;

  Letters(Links& links, int rank, int size);

  /// The letter to `peer`, to be filled before post(); its inline_bytes of data are sent with it.
  Header& outgoing(int peer) const;
  char* outgoing_data(int peer) const;
  /// Sends the letters of a collective, and makes ready for those of the next.
  void post();
  /// Blocks until the letters of all peers are here. Throws LinkLost.
  void await();
  /// The letter from `peer`, until the next post().
  const Header& incoming(int peer) const;
  const char* incoming_data(int peer) const;
  /// Blocks until our letters are out.
  void finish();

  // For messages about failures, from any thread.

  /// The newest header that was read from `peer`; sequence 0 if none was.
  Header newest(int peer) const;
  /// Whether the letter of collective `ordinal` is here, read or not.
  bool arrived(int peer, std::uint64_t ordinal) const;

 private:
  static constexpr std::size_t letter_bytes = 132 * 64;
  static_assert(sizeof(Header) + capacity <= letter_bytes);

  char* letter(std::size_t set, int peer) const;
  Header& header(std::size_t set, int peer) const;
  void post_receives();

  Links& links_;
  int rank_;
  int size_;
  Memory memory_;  ///< Sets of a letter a peer: 0 and 1 take turns to be received, 2 is sent.
  std::size_t turn_ = 0;  ///< The set that the newest receives were posted for.
  std::array<std::vector<Ticket>, 2> receives_;
  std::vector<Ticket> sends_;
  mutable std::mutex mutex_;
  std::vector<Header> newest_;
};

}  // namespace muster::gloo
