#include "communicators/listener.hpp"

#include <muster/error.hpp>

#include "text.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace muster {
namespace {

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

struct RawAddress {
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_storage);
  sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
  int family() const noexcept { return storage.ss_family; }
};

RawAddress parse(const SocketAddress& address) {
  RawAddress raw;
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&raw.storage);
  auto* const v6 = reinterpret_cast<sockaddr_in6*>(&raw.storage);
  if (inet_pton(AF_INET, address.host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(address.port);
    raw.length = sizeof(sockaddr_in);
  } else if (inet_pton(AF_INET6, address.host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(address.port);
    raw.length = sizeof(sockaddr_in6);
  } else {
    throw ConfigError("MASTER_ADDR is '" + address.host + "', expected an IP address");
  }
  return raw;
}

std::string host_of(const RawAddress& raw) {
  char text[INET6_ADDRSTRLEN] = "";
  const void* const bytes =
      raw.family() == AF_INET
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(&raw.storage)->sin_addr)
          : static_cast<const void*>(
                &reinterpret_cast<const sockaddr_in6*>(&raw.storage)->sin6_addr);
  inet_ntop(raw.family(), bytes, text, sizeof(text));
  return text;
}

[[noreturn]] void fail(const std::string& what, int error) {
  throw CommunicationError(what + ": " + std::strerror(error));
}

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// 0, or the error of a connection that is being made: ETIMEDOUT when `limit` has passed, where the
/// kernel alone would go on for minutes if nobody answers.
int finish_connect(int socket, milliseconds limit) {
  const auto end = Clock::now() + limit;
  pollfd writable{socket, POLLOUT, 0};
  for (auto left = limit; left.count() > 0;) {
    const int ready = ::poll(&writable, 1, static_cast<int>(left.count()));
    if (ready > 0) {
      int error = 0;
      socklen_t length = sizeof(error);
      return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
    }
    if (ready < 0 && errno != EINTR) {
      return errno;
    }
    left = std::chrono::ceil<milliseconds>(end - Clock::now());
  }
  return ETIMEDOUT;
}

/// Empty if nobody listens there yet; then `error` says why.
std::string try_connect(RawAddress& raw, milliseconds limit, int& error) {
  const Socket socket(::socket(raw.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  error = 0;
  if (socket.get() < 0 || ::connect(socket.get(), raw.get(), raw.length) != 0) {
    error = errno == EINPROGRESS ? finish_connect(socket.get(), limit) : errno;
  }
  if (error != 0) {
    return {};
  }
  RawAddress local;
  ::getsockname(socket.get(), local.get(), &local.length);
  return host_of(local);
}

}  // namespace

std::string to_text(const SocketAddress& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return (v6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

int listen_on(const SocketAddress& address) {
  auto raw = parse(address);
  Socket socket(::socket(raw.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  // Whoever holds the port for us without listening (the launcher) has set this too.
  if (socket.get() < 0 ||
      ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      ::bind(socket.get(), raw.get(), raw.length) != 0 || ::listen(socket.get(), SOMAXCONN) != 0) {
    const int error = errno;
    fail("rank 0 cannot listen on " + to_text(address) + " (MASTER_ADDR and MASTER_PORT)" +
             (error == EADDRNOTAVAIL ? "; no interface of this host has that address" : ""),
         error);
  }
  return socket.release();
}

int listen_on_inherited(int inherited) {
  Socket socket(::fcntl(inherited, F_DUPFD_CLOEXEC, 0));
  if (socket.get() < 0 || ::listen(socket.get(), SOMAXCONN) != 0) {
    const int error = errno;
    fail("rank 0 cannot listen on the descriptor MUSTER_MASTER_FD=" + std::to_string(inherited),
         error);
  }
  ::fcntl(inherited, F_SETFD, FD_CLOEXEC);
  return socket.release();
}

std::string await_listener(const SocketAddress& address, milliseconds deadline) {
  // The kernel asks again less and less often: a new connection finds a host sooner that comes
  // late.
  constexpr milliseconds longest_attempt{3000};
  auto raw = parse(address);
  const auto end = Clock::now() + deadline;
  auto pause = milliseconds(2);
  for (;;) {
    int error = 0;
    const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
    auto local = try_connect(raw, std::clamp(left, milliseconds(1), longest_attempt), error);
    if (!local.empty()) {
      return local;
    }
    if (Clock::now() >= end) {
      throw CommunicationError("rank 0 did not listen on " + to_text(address) +
                               " (MASTER_ADDR and MASTER_PORT) within " + to_text(deadline) + ": " +
                               std::strerror(error));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 3 / 2 + milliseconds(1), milliseconds(50));
  }
}

}  // namespace muster
