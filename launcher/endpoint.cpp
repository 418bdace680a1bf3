#include "endpoint.hpp"

#include "unique_fd.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

namespace muster::launcher {

std::uint16_t Endpoint::port() const noexcept {
  return ntohs(family() == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(storage).sin6_port
                                    : reinterpret_cast<const sockaddr_in&>(storage).sin_port);
}

std::string Endpoint::address() const {
  char text[NI_MAXHOST] = {};
  const int error = ::getnameinfo(get(), size, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return error == 0 ? text : "";
}

std::string Endpoint::text() const {
  const std::string host = family() == AF_INET6 ? "[" + address() + "]" : address();
  return host + ":" + std::to_string(port());
}

bool Endpoint::is_loopback() const noexcept {
  if (family() == AF_INET6)
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr);
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(storage);
  return ntohl(v4.sin_addr.s_addr) >> 24U == IN_LOOPBACKNET;
}

bool Endpoint::is_ours() const {
  Endpoint any_port = *this;
  if (family() == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(any_port.storage).sin6_port = 0;
  } else {
    reinterpret_cast<sockaddr_in&>(any_port.storage).sin_port = 0;
  }
  const UniqueFd socket(::socket(family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::bind(socket.get(), any_port.get(), any_port.size) == 0;
}

std::optional<Endpoint> literal_endpoint(const std::string& address, std::uint16_t port) {
  Endpoint endpoint;
  auto& v4 = reinterpret_cast<sockaddr_in&>(endpoint.storage);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(endpoint.storage);
  if (inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    endpoint.size = sizeof v4;
  } else if (inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    endpoint.size = sizeof v6;
  } else {
    return std::nullopt;
  }
  return endpoint;
}

Endpoint local_endpoint(int socket) {
  Endpoint endpoint;
  endpoint.size = sizeof endpoint.storage;
  ::getsockname(socket, endpoint.get(), &endpoint.size);
  return endpoint;
}

Endpoint peer_endpoint(int socket) {
  Endpoint endpoint;
  endpoint.size = sizeof endpoint.storage;
  ::getpeername(socket, endpoint.get(), &endpoint.size);
  return endpoint;
}

}  // namespace muster::launcher
