#pragma once

#include "communicators/gloo/links.hpp"

#include <cstddef>
#include <vector>

namespace muster::gloo {

/// The messages of one operation. If it ends early, the links must be closed before this goes.
class Traffic {
 public:
  explicit Traffic(Links& links) : links_(links) {}

  /// The longest message. Gloo gets slow with much longer ones.
  static constexpr std::size_t longest = std::size_t{4} << 20;

  // Of any length: cut into messages, as the other side does too.
  void send(int peer, int tag, const char* data, std::size_t bytes);
  void receive(int peer, int tag, char* data, std::size_t bytes);

  /// One message, for which the caller waits with await(); the ticket is kept here too.
  Ticket receive_one(int peer, int tag, char* data, std::size_t bytes);
  void await(const Ticket& ticket) { links_.wait(ticket); }

  /// Blocks until all that was posted is done. Throws PeerLost.
  void settle();

 private:
  Links& links_;
  std::vector<Ticket> receives_;
  std::vector<Ticket> sends_;
  std::vector<Ticket> kept_;
};

}  // namespace muster::gloo
