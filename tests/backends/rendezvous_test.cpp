#include "communicators/rendezvous.hpp"

#include <muster/error.hpp>

#include "backends/catch.hpp"
#include "backends/ranks.hpp"
#include "communicators/listener.hpp"

#include <arpa/inet.h>
#include <cstdlib>
#include <fcntl.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace muster::test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a world of one needs no rendezvous") {
  CHECK(Rendezvous::open(World{}).state() == nullptr);
}

TEST_CASE("ranks meet at an address that is held for them, whoever comes first") {
  for (const int late : {0, 1}) {
    const HeldPort port;
    std::vector<std::thread> threads;
    std::vector<std::string> found(2);
    // Rank 0 serves until rank 1 has read.
    std::vector<Rendezvous> opened(2);
    for (std::size_t rank = 0; rank < 2; ++rank) {
      threads.emplace_back([&, rank] {
        std::this_thread::sleep_for(static_cast<int>(rank) == late ? 100ms : 0ms);
        opened[rank] = Rendezvous::open(world_at(port, static_cast<int>(rank), 2, 20s));
        auto& store = *opened[rank].state()->store;
        store.set("from " + std::to_string(rank), std::string("hello"));
        found[rank] = store.get_to_str({"from " + std::to_string(1 - rank)});
      });
    }
    for (auto& thread : threads) {
      thread.join();
    }
    CHECK(found[0] == "hello");
    CHECK(found[1] == "hello");
  }
}

TEST_CASE("rank 0 serves on the descriptor that it inherits") {
  const HeldPort port;
  REQUIRE(::setenv("MUSTER_MASTER_FD", std::to_string(port.descriptor()).c_str(), 1) == 0);
  for (int round = 0; round < 2; ++round) {
    const auto rendezvous = Rendezvous::open(world_at(port, 0, 2, 20s));
    CHECK(await_listener({"127.0.0.1", port.number()}, 5s) == "127.0.0.1");
  }
  CHECK((::fcntl(port.descriptor(), F_GETFD) & FD_CLOEXEC) != 0);
  REQUIRE(::setenv("MUSTER_MASTER_FD", "nonsense", 1) == 0);
  CHECK_THROWS_AS(Rendezvous::open(world_at(port, 0, 2, 20s)), ConfigError);
  REQUIRE(::setenv("MUSTER_MASTER_FD", "9999", 1) == 0);
  CHECK_THROWS_AS(Rendezvous::open(world_at(port, 0, 2, 20s)), CommunicationError);
  ::unsetenv("MUSTER_MASTER_FD");
}

TEST_CASE("the store listens on its address only") {
  const HeldPort port;
  const auto rendezvous = Rendezvous::open(world_at(port, 0, 2, 20s));
  CHECK_NOTHROW(await_listener({"127.0.0.1", port.number()}, 5s));
  CHECK_THROWS_AS(await_listener({"127.0.0.2", port.number()}, 50ms), CommunicationError);
}

TEST_CASE("when rank 0 does not come its address is named") {
  const HeldPort port;
  const auto error = error_of([&] { Rendezvous::open(world_at(port, 1, 2, 200ms)); });
  CHECK(error.find("rank 0 did not listen on 127.0.0.1:" + std::to_string(port.number())) == 0);
  CHECK(error.find("within 200 ms") != std::string::npos);
}

TEST_CASE("a host that answers nothing is given up in time") {
  // Connections that nobody accepts fill the backlog; what asks then gets no answer.
  const HeldPort port;
  REQUIRE(::listen(port.descriptor(), 0) == 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port.number());
  std::vector<int> waiting;
  for (int i = 0; i < 8; ++i) {
    waiting.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    ::connect(waiting.back(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }
  const auto started = std::chrono::steady_clock::now();
  const auto error = error_of([&] { Rendezvous::open(world_at(port, 1, 2, 500ms)); });
  CHECK(std::chrono::steady_clock::now() - started < 30s);  // The kernel's own limit is minutes.
  CHECK(error.find("within 500 ms") != std::string::npos);
  for (const int socket : waiting) {
    ::close(socket);
  }
}

TEST_CASE("a port that is taken is named") {
  const HeldPort port;
  REQUIRE(::listen(port.descriptor(), 1) == 0);
  const auto error = error_of([&] { Rendezvous::open(world_at(port, 0, 2, 5s)); });
  CHECK(error.find("rank 0 cannot listen on 127.0.0.1:" + std::to_string(port.number())) == 0);
}

TEST_CASE("under torchrun rank 0 is a client of the agent's store") {
  const HeldPort port;
  const auto agent = Rendezvous::open(world_at(port, 0, 2, 20s));
  REQUIRE(::setenv("TORCHELASTIC_USE_AGENT_STORE", "True", 1) == 0);
  const auto rank = Rendezvous::open(world_at(port, 0, 2, 20s));
  ::unsetenv("TORCHELASTIC_USE_AGENT_STORE");
  rank.state()->store->set("key", std::string("value"));
  CHECK(agent.state()->store->get_to_str({"key"}) == "value");
}

TEST_CASE("ranks of several hosts listen where they reach rank 0 from") {
  REQUIRE_NOTHROW(on_ranks(2, 60s, [](const Endpoint& endpoint) {
    auto spread = endpoint;
    spread.one_host = false;
    const auto connection = connect("auto", spread);
    expect_contains(connection.why, "serves 2 ranks on cpu, several hosts");
    connection.communicator->barrier("x").wait();
  }));
}

TEST_CASE("an address of another host is named as such") {
  const HeldPort port;
  auto world = world_at(port, 0, 2, 5s);
  world.master_addr = "203.0.113.1";
  const auto error = error_of([&] { Rendezvous::open(world); });
  CHECK(error.find("no interface of this host has that address") != std::string::npos);
}

TEST_CASE("ranks meet and talk over IPv6 alone") {
  int descriptor = -1;
  try {
    descriptor = listen_on({"::1", 0});
  } catch (const CommunicationError&) {
    SKIP("this host has no ::1");
  }
  sockaddr_in6 address{};
  socklen_t length = sizeof(address);
  REQUIRE(::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  ::close(descriptor);
  std::vector<std::thread> threads;
  std::vector<std::string> errors(2);
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        World world;
        world.rank = rank;
        world.size = 2;
        world.master_addr = "::1";
        world.master_port = ntohs(address.sin6_port);
        world.timeout = 20s;
        Endpoint endpoint;
        endpoint.rank = rank;
        endpoint.size = 2;
        endpoint.timeout = 20s;
        endpoint.rendezvous = Rendezvous::open(world);
        connect("gloo", endpoint).communicator->barrier("over IPv6").wait();
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  CHECK(errors[0] == "");
  CHECK(errors[1] == "");
}

TEST_CASE("worlds without an address, or with a name for one, are refused") {
  World world;
  world.size = 2;
  CHECK_THROWS_AS(Rendezvous::open(world), ConfigError);
  world.master_port = 1;
  world.master_addr = "localhost";
  CHECK_THROWS_AS(Rendezvous::open(world), ConfigError);
}

}  // namespace
}  // namespace muster::test
