#include "port.hpp"

#include "endpoint.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <sstream>
#include <sys/socket.h>
#include <sys/un.h>

namespace muster::launcher {
namespace {

Endpoint endpoint_of(const std::string& address, std::uint16_t port) {
  if (const auto endpoint = literal_endpoint(address, port)) return *endpoint;
  throw ConfigError("master address '" + address +
                    "' is not an IPv4 or IPv6 address, such as 127.0.0.1 or ::1");
}

/// Whether connections that are closing, or a listener's own, are known for the port. A port that
/// is only reserved, as here, is not in these tables.
bool has_connections(std::uint16_t port) {
  for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream table(path);
    std::string line;
    std::getline(table, line);
    while (std::getline(table, line)) {
      std::istringstream fields(line);
      std::string slot, local;
      fields >> slot >> local;
      const auto colon = local.rfind(':');
      if (colon != std::string::npos && std::stoul(local.substr(colon + 1), nullptr, 16) == port)
        return true;
    }
  }
  return false;
}

void allow_reuse(int socket) {
  const int on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
}

/// 0, or the errno of the refusal.
int bind_alone(int socket, Endpoint& endpoint) {
  // Without SO_REUSEADDR first: with it, two jobs could reserve one port and never know.
  if (::bind(socket, endpoint.get(), endpoint.size) == 0) {
    allow_reuse(socket);
    return 0;
  }
  if (errno != EADDRINUSE || !has_connections(endpoint.port())) return errno;
  // What is left of a job that has ended (TIME_WAIT) must not keep the port from the next one.
  allow_reuse(socket);
  return ::bind(socket, endpoint.get(), endpoint.size) == 0 ? 0 : errno;
}

std::string refusal(const std::string& address, std::uint16_t port, int error) {
  const std::string number = std::to_string(port);
  if (error == EADDRINUSE) {
    return "port " + number + " on " + address +
           " is taken; --master-port 0 (the default on one host) takes a free one";
  }
  if (error == EADDRNOTAVAIL)
    return "no network interface of this host has the master address " + address;
  if (error == EACCES)
    return "port " + number + " needs root; a port above 1023, or --master-port 0, does not";
  return "cannot reserve port " + number + " on " + address + ": " + std::strerror(error);
}

/// Two jobs that may both reuse what is left of a third would not see each other's socket: each
/// holds a name as well. False if another job has it; no name where a sandbox denies it.
bool hold_name(const Endpoint& endpoint, const std::string& address, UniqueFd& holder) {
  const std::string name = "muster-" + address + "-" + std::to_string(endpoint.port());
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  name.copy(local.sun_path + 1, sizeof local.sun_path - 1);  // After a zero byte: no file.
  holder.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return ::bind(holder.get(), reinterpret_cast<const sockaddr*>(&local), size) == 0 ||
         errno != EADDRINUSE;
}

}  // namespace

ReservedPort reserve_port(const std::string& address, std::uint16_t port) {
  Endpoint endpoint = endpoint_of(address, port);
  UniqueFd socket(::socket(endpoint.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) throw Error(std::string("cannot open a socket: ") + std::strerror(errno));
  int error = bind_alone(socket.get(), endpoint);
  UniqueFd name;
  if (error == 0) {
    ::getsockname(socket.get(), endpoint.get(), &endpoint.size);
    if (!hold_name(endpoint, address, name)) error = EADDRINUSE;
  }
  if (error == EADDRINUSE) throw PortTaken(refusal(address, port, error));
  if (error != 0) throw ConfigError(refusal(address, port, error));
  return {std::move(socket), address, endpoint.port(), std::move(name)};
}

}  // namespace muster::launcher
