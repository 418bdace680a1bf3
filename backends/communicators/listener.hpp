#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace muster {

/// A literal IP address and a port.
struct SocketAddress {
  std::string host;
  std::uint16_t port = 0;
};

/// "127.0.0.1:29500", "[::1]:29500".
std::string to_text(const SocketAddress& address);

/// A listening socket on that address only. Throws CommunicationError if it cannot be had.
int listen_on(const SocketAddress& address);

/// A listening socket made from `inherited`, which is bound and may listen already: a duplicate, so
/// that it can be asked for again. Throws CommunicationError if it is not a socket.
int listen_on_inherited(int inherited);

/// Connects every few milliseconds until somebody listens on `address` or `deadline` has passed.
/// Returns this host's address of that connection. Throws CommunicationError.
std::string await_listener(const SocketAddress& address, std::chrono::milliseconds deadline);

}  // namespace muster
