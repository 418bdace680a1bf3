#include "port.hpp"

#include <muster/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <set>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace muster::launcher {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

bool bind_to(const UniqueFd& socket, std::uint16_t port, bool reuse) {
  const int on = reuse ? 1 : 0;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = loopback(port);
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

UniqueFd tcp_socket() { return UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

TEST_CASE("a free port is held, and a store can still listen on it") {
  const ReservedPort reserved = reserve_port("127.0.0.1", 0);
  CHECK(reserved.port != 0);
  CHECK(reserved.address == "127.0.0.1");
  const UniqueFd stranger = tcp_socket();
  CHECK_FALSE(bind_to(stranger, reserved.port, false));
  SECTION("a program's own store") {
    const UniqueFd store = tcp_socket();
    REQUIRE(bind_to(store, reserved.port, true));
    CHECK(::listen(store.get(), 8) == 0);
  }
  SECTION("ours, on the socket itself") { CHECK(::listen(reserved.socket.get(), 8) == 0); }
}

TEST_CASE("two jobs never get one port") {
  std::vector<ReservedPort> ports;
  std::set<std::uint16_t> numbers;
  for (int i = 0; i < 100; ++i) {
    ports.push_back(reserve_port("127.0.0.1", 0));
    numbers.insert(ports.back().port);
  }
  CHECK(numbers.size() == 100);
  CHECK_THROWS_AS(reserve_port("127.0.0.1", ports[0].port), ConfigError);
}

TEST_CASE("a port that is listened on is refused by number, with what would work") {
  const UniqueFd listener = tcp_socket();
  REQUIRE(bind_to(listener, 0, false));
  REQUIRE(::listen(listener.get(), 1) == 0);
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
  const auto port = ntohs(address.sin_port);
  CHECK_THROWS_MATCHES(reserve_port("127.0.0.1", port), ConfigError,
                       MessageMatches(ContainsSubstring(std::to_string(port)) &&
                                      ContainsSubstring("--master-port 0")));
}

TEST_CASE("a port of a job that has just ended can be had again") {
  ReservedPort first = reserve_port("127.0.0.1", 0);
  const std::uint16_t port = first.port;
  REQUIRE(::listen(first.socket.get(), 1) == 0);
  const UniqueFd client = tcp_socket();
  const sockaddr_in address = loopback(port);
  REQUIRE(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
          0);
  UniqueFd served(::accept(first.socket.get(), nullptr, nullptr));
  served.reset();  // Closed on this side first: TIME_WAIT stays with the port.
  first = {};
  CHECK(reserve_port("127.0.0.1", port).port == port);
}

TEST_CASE("addresses") {
  CHECK_THROWS_AS(reserve_port("localhost", 0), ConfigError);
  CHECK_THROWS_AS(reserve_port("1:2", 0), ConfigError);
  CHECK_THROWS_MATCHES(reserve_port("203.0.113.1", 0), ConfigError,
                       MessageMatches(ContainsSubstring("203.0.113.1")));
  const UniqueFd six(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!six) SKIP("no IPv6 here");
  CHECK(reserve_port("::1", 0).address == "::1");
}

TEST_CASE("one number is for one job, whatever is left of an earlier one") {
  std::uint16_t port = 0;
  {
    // Both ends here, closed by the server first: its port stays in TIME_WAIT.
    const UniqueFd server = tcp_socket(), client = tcp_socket();
    REQUIRE(bind_to(server, 0, true));
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(server.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    REQUIRE(::listen(server.get(), 1) == 0);
    REQUIRE(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    UniqueFd accepted(::accept(server.get(), nullptr, nullptr));
    accepted.reset();
    char byte = 0;
    CHECK(::read(client.get(), &byte, 1) == 0);
  }
  const ReservedPort first = reserve_port("127.0.0.1", port);
  CHECK_THROWS_AS(reserve_port("127.0.0.1", port), ConfigError);
}

}  // namespace
}  // namespace muster::launcher
