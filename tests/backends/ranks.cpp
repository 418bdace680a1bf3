#include "backends/ranks.hpp"

#include <muster/error.hpp>

#include <exception>
#include <mutex>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace muster::test {

HeldPort::HeldPort() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), number_(0) {
  const int on = 1;
  ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (fd_ < 0 || ::bind(fd_, raw, length) != 0 || ::getsockname(fd_, raw, &length) != 0) {
    throw Failed("no port to be had");
  }
  number_ = ntohs(address.sin_port);
}

HeldPort::~HeldPort() { ::close(fd_); }

void expect(bool holds, const std::string& what) {
  if (!holds) {
    throw Failed(what);
  }
}

World world_at(const HeldPort& port, int rank, int size, std::chrono::milliseconds timeout) {
  World world;
  world.rank = world.local_rank = rank;
  world.size = world.local_size = size;
  world.master_port = port.number();
  world.timeout = timeout;
  return world;
}

void on_ranks(int size, std::chrono::milliseconds timeout,
              const std::function<void(const Endpoint&)>& body) {
  const HeldPort port;
  std::mutex mutex;
  std::string failures;
  std::vector<std::thread> threads;
  std::vector<Rendezvous> kept(
      static_cast<std::size_t>(size));  // The store lives until all have ended.
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        Endpoint endpoint;
        endpoint.rank = rank;
        endpoint.size = size;
        endpoint.timeout = timeout;
        endpoint.rendezvous = Rendezvous::open(world_at(port, rank, size, timeout));
        kept[static_cast<std::size_t>(rank)] = endpoint.rendezvous;
        body(endpoint);
      } catch (const std::exception& error) {
        const std::lock_guard lock(mutex);
        failures += "rank " + std::to_string(rank) + ": " + error.what() + "\n";
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  expect(failures.empty(), failures);
}

void with_group(std::string_view kind, int size, const std::function<void(Communicator&)>& body) {
  on_ranks(size, std::chrono::seconds(60), [&](const Endpoint& endpoint) {
    const auto connection = connect(kind, endpoint);
    body(*connection.communicator);
  });
}

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const CommunicationError& error) {
    return error.what();
  }
  throw Failed("no CommunicationError was thrown");
}

void expect_contains(const std::string& text, const std::string& part) {
  expect(text.find(part) != std::string::npos, "'" + part + "' is not in: " + text);
}

}  // namespace muster::test
