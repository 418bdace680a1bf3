#pragma once

#include "rendezvous/frame.hpp"
#include "supervise/event_loop.hpp"
#include "unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace muster::launcher {

/// What the kernel keeps of a connection that has moved from one loop to another.
struct OpenConnection {
  UniqueFd socket;
  std::string unread;  ///< Came already, and nobody has looked at it.
};

/// A TCP connection that carries frames. What does not begin as one, or is longer than allowed,
/// ends it. A peer that the network has lost is noticed within 15 seconds, whatever its process
/// does; one that is stopped stays.
class Connection {
 public:
  /// Before anybody has proved anything, and afterwards.
  static constexpr std::size_t most_of_strangers = 8192, most_of_members = std::size_t{1} << 20U;

  using OnFrame = std::function<void(const Frame&)>;
  /// Why, and for how long nothing had been heard from the peer, not even an acknowledgement.
  using OnClosed = std::function<void(const std::string& why, std::int64_t silent_ns)>;

  Connection(EventLoop& loop, OpenConnection open, std::size_t most_bytes);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() = default;

  /// Calls back from the loop, never from here. `closed` is called once, as the last. Either may
  /// destroy this object, and may throw.
  void start(OnFrame received, OnClosed closed);
  /// From now on frames may be that long.
  void allow(std::size_t most_bytes) noexcept { most_bytes_ = most_bytes; }

  /// Returns at once; what the kernel does not take is sent when it does.
  void send(MessageKind kind, std::string_view payload = {});
  /// Of what was sent, nothing waits here.
  bool flushed() const noexcept { return unsent_.empty(); }
  /// No more is sent; the peer reads what was, and then the end.
  void finish();
  /// Gives the connection away.
  OpenConnection release();
  int socket() const noexcept { return open_.socket.get(); }

 private:
  void on_readable();
  /// False if this object is gone or has nothing to read any more.
  bool next_frame();
  void close(const std::string& why);
  void write_rest();

  EventLoop& loop_;
  OpenConnection open_;
  std::size_t most_bytes_;
  OnFrame received_;
  OnClosed closed_;
  std::unique_ptr<EventLoop::Watch> readable_, writable_;
  std::unique_ptr<EventLoop::Timer> first_;
  UniqueFd second_;  ///< The same socket: of one descriptor a loop watches one direction.
  std::string unsent_;
  bool finishing_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

/// Sends one message on a connection that no loop looks after; gives up if the kernel does not take
/// it within seconds.
void send_frame(int socket, MessageKind kind, std::string_view payload);

/// Sets what all connections between launchers have: no delay, and the network's loss noticed.
void tune_connection(int socket);

}  // namespace muster::launcher
