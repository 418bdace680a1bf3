#pragma once

#include <muster/communicators.hpp>

#include "communicators/transport.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace muster::gloo {

/// A message under way, in Gloo's hands.
struct Message;
using Ticket = std::shared_ptr<Message>;

/// Connections to all peers of a group, over which messages go: a send and a receive meet by peer
/// and tag, in the order in which they were posted. Any thread may call.
///
/// Memory of a message must stay until its ticket was waited for, or close() has returned; a ticket
/// must not be dropped before either. A send must not be longer than the receive that it meets
/// (Gloo ends the process); a shorter one is fine.
class Links {
 public:
  /// Collective. Throws CommunicationError, naming the ranks that did not come, when the endpoint's
  /// timeout has passed.
  explicit Links(const Endpoint& endpoint);
  ~Links();
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  // These do not block. They throw PeerLost.
  Ticket send(int peer, int tag, const void* data, std::size_t bytes);
  Ticket receive(int peer, int tag, void* data, std::size_t bytes);

  /// Blocks until the message is sent or received. Throws PeerLost, also once close() was called.
  void wait(const Ticket& ticket);
  /// The same with a limit, after which all links are closed.
  void wait(const Ticket& ticket, std::chrono::milliseconds limit);
  /// Throws PeerLost if the connection of a receive that nobody waits for is gone; else does
  /// nothing.
  void probe(const Ticket& ticket);

  /// Ends all connections; whoever waits, here and at peers, gets PeerLost.
  void close() noexcept;

 private:
  struct Transport;
  Ticket post(bool sends, int peer, int tag, void* data, std::size_t bytes);
  bool closed() const;
  void poison(int connection) noexcept;

  int rank_;
  int size_;
  std::unique_ptr<Transport> transport_;
  std::mutex posting_;
  mutable std::mutex mutex_;
  bool closed_ = false;
  std::vector<Message*> awaited_;
};

}  // namespace muster::gloo
