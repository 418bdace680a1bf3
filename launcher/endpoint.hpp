#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/socket.h>

namespace muster::launcher {

/// An IPv4 or IPv6 address with a port.
struct Endpoint {
  sockaddr_storage storage{};
  socklen_t size = 0;

  sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
  int family() const noexcept { return storage.ss_family; }
  std::uint16_t port() const noexcept;
  /// "10.0.0.1", "::1"
  std::string address() const;
  /// "10.0.0.1:29500", "[::1]:29500"
  std::string text() const;
  /// 127.0.0.0/8 or ::1: others cannot reach it.
  bool is_loopback() const noexcept;
  /// This host has the address.
  bool is_ours() const;

  bool operator==(const Endpoint& other) const {
    return address() == other.address() && port() == other.port();
  }
};

/// Nothing for text that is no IPv4 or IPv6 address, such as a name.
std::optional<Endpoint> literal_endpoint(const std::string& address, std::uint16_t port);

/// Of a socket: its own, and whose it is connected to.
Endpoint local_endpoint(int socket);
Endpoint peer_endpoint(int socket);

}  // namespace muster::launcher
