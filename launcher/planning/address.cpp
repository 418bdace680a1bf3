#include "planning/address.hpp"

#include <muster/error.hpp>

#include "rendezvous/meeting_place.hpp"

#include <arpa/inet.h>
#include <memory>
#include <netdb.h>
#include <sys/socket.h>

namespace muster::launcher {

std::string literal_address(const std::string& master_addr, const SettingNames& names) {
  if (master_addr.empty() || master_addr == "localhost") return "127.0.0.1";
  auto literal = without_brackets(master_addr);
  if (literal_endpoint(literal, 0)) return literal;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(master_addr.c_str(), nullptr, &hints, &list);
  if (error != 0) {
    throw ConfigError(names.of("launch.master_addr") + " " + master_addr + ": " +
                      ::gai_strerror(error) + "; give an address of this host, or leave it out");
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, ::freeaddrinfo);
  char text[INET6_ADDRSTRLEN] = {};
  ::getnameinfo(list->ai_addr, list->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return text;
}

}  // namespace muster::launcher
