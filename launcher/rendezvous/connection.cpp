#include "connection.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

void set_option(int socket, int level, int name, int value) {
  ::setsockopt(socket, level, name, &value, sizeof value);
}

/// For how long nothing was heard from the peer, not even an acknowledgement; 0 if unknown.
std::int64_t silence_ns(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  constexpr std::int64_t ns_in_ms = 1'000'000;
  return ns_in_ms * std::min(info.tcpi_last_ack_recv, info.tcpi_last_data_recv);
}

/// Why a connection ended, by an errno; 0: the peer closed it.
std::string reason_of(int error) {
  switch (error) {
    case 0:
      return "its launcher is gone";
    case ECONNRESET:
    case EPIPE:
      return "its launcher is gone (connection reset)";
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case ENETUNREACH:
      return std::string("the network does not reach it any more (") + std::strerror(error) + ")";
    default:
      return std::strerror(error);
  }
}

}  // namespace

void tune_connection(int socket) {
  constexpr int idle_s = 5, interval_s = 2, probes = 5, lost_ms = 15000;
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, idle_s);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, interval_s);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, probes);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, lost_ms);
}

void send_frame(int socket, MessageKind kind, std::string_view payload) {
  const std::string bytes = frame_header(kind, payload.size()) + std::string(payload);
  std::string_view rest = bytes;
  constexpr int patience_ms = 5000;
  pollfd ready{socket, POLLOUT, 0};
  while (!rest.empty() && ::poll(&ready, 1, patience_ms) == 1) {
    const ssize_t size = ::send(socket, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && errno != EAGAIN && errno != EINTR) return;
    if (size > 0) rest.remove_prefix(static_cast<std::size_t>(size));
  }
}

Connection::Connection(EventLoop& loop, OpenConnection open, std::size_t most_bytes)
    : loop_(loop), open_(std::move(open)), most_bytes_(most_bytes) {}

void Connection::start(OnFrame received, OnClosed closed) {
  received_ = std::move(received);
  closed_ = std::move(closed);
  tune_connection(open_.socket.get());
  readable_ =
      loop_.watch(open_.socket.get(), EventLoop::Direction::readable, [this] { on_readable(); });
  if (open_.unread.empty()) return;
  first_ = loop_.timer();
  first_->set(std::chrono::nanoseconds(0), [this] {
    while (next_frame()) {
    }
  });
}

void Connection::on_readable() {
  char buffer[16384];
  const ssize_t size = ::recv(open_.socket.get(), buffer, sizeof buffer, 0);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) {
    close(reason_of(size < 0 ? errno : 0));
    return;
  }
  open_.unread.append(buffer, static_cast<std::size_t>(size));
  while (next_frame()) {
  }
}

bool Connection::next_frame() {
  const std::string_view bytes = open_.unread;
  if (bytes.empty() || !open_.socket) return false;
  const auto fault = frame_fault(bytes, most_bytes_);
  if (!fault.empty()) {
    close(fault);
    return false;
  }
  const auto end = frame_bytes(bytes);
  if (end == 0 || bytes.size() < end) return false;
  const Frame frame = frame_in(bytes);
  open_.unread.erase(0, end);
  const std::weak_ptr<bool> alive = alive_;
  const OnFrame call = received_;
  call(frame);
  return !alive.expired() && open_.socket;
}

void Connection::close(const std::string& why) {
  const std::int64_t silent_ns = silence_ns(open_.socket.get());
  readable_.reset();
  writable_.reset();
  open_.socket.reset();
  const OnClosed call = closed_;
  call(why, silent_ns);
}

void Connection::send(MessageKind kind, std::string_view payload) {
  if (!open_.socket || finishing_) return;
  const bool waits = !unsent_.empty();
  unsent_ += frame_header(kind, payload.size());
  unsent_ += payload;
  if (!waits) write_rest();
}

void Connection::write_rest() {
  while (!unsent_.empty()) {
    const ssize_t size = ::send(open_.socket.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) {
      if (!second_) second_.reset(::fcntl(open_.socket.get(), F_DUPFD_CLOEXEC, 0));
      if (!writable_) {
        writable_ =
            loop_.watch(second_.get(), EventLoop::Direction::writable, [this] { write_rest(); });
      }
      return;
    }
    // A peer that is gone is noticed by reading.
    unsent_.erase(0, size < 0 ? unsent_.size() : static_cast<std::size_t>(size));
  }
  writable_.reset();
  if (finishing_) ::shutdown(open_.socket.get(), SHUT_WR);
}

void Connection::finish() {
  finishing_ = true;
  if (open_.socket && unsent_.empty()) ::shutdown(open_.socket.get(), SHUT_WR);
}

OpenConnection Connection::release() {
  readable_.reset();
  writable_.reset();
  first_.reset();
  constexpr int patience_ms = 5000;
  pollfd ready{open_.socket.get(), POLLOUT, 0};
  while (!unsent_.empty() && ::poll(&ready, 1, patience_ms) == 1) write_rest();
  writable_.reset();
  return std::move(open_);
}

}  // namespace muster::launcher
