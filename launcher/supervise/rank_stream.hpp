#pragma once

#include "supervise/channels.hpp"
#include "supervise/console.hpp"
#include "supervise/event_loop.hpp"
#include "supervise/line_assembler.hpp"
#include "supervise/log_file.hpp"
#include "supervise/sink.hpp"
#include "supervise/tail.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace muster::launcher {

/// Where streams meet: one of our descriptors, and how lines are laid there.
struct Outlet {
  Outlet(EventLoop& loop, int fd, bool terminal, std::function<void()> changed)
      : console(terminal), sink(loop, fd, std::move(changed)) {}

  Console console;
  Sink sink;
  char last_byte = '\n';
};

/// One channel while it is read: what it brings goes to its log file, to its tail, and to its
/// outlet if it is shown.
class RankStream {
 public:
  /// How long a part of a line waits for its end before it is shown.
  static constexpr std::int64_t partial_ns = 200'000'000;

  struct Place {
    Outlet* outlet = nullptr;  ///< Null: nothing is shown.
    std::string prefix;
    bool raw = false;  ///< Passed on as it comes.
    int owner = 0;     ///< Its number on the console.
    LogFile log;
    std::function<void(const LogFile&)> log_failed;  ///< Called once.
  };

  RankStream(Channel channel, Place place)
      : channel_(std::move(channel)), place_(std::move(place)) {}

  const Channel& channel() const noexcept { return channel_; }
  Outlet* outlet() const noexcept { return place_.outlet; }
  const Tail& tail() const noexcept { return tail_; }
  bool ended() const noexcept { return !channel_.ours; }

  /// Calls `ready` whenever there is something to read.
  void start(EventLoop& loop, EventLoop::Callback ready);
  /// It must wait: its outlet is full, or another one's long line is under way.
  bool blocked() const noexcept;
  void pause() noexcept { watch_->pause(); }
  void resume();

  /// Reads once: whether something came, which counts as said at `now_ns`. It is in the outlet's
  /// buffer afterwards, not yet flushed.
  bool read(std::int64_t now_ns);
  /// Shows a part of a line whose time has come.
  void show_partial(std::int64_t now_ns);
  /// When show_partial() has something to do; 0: not now.
  std::int64_t partial_due_ns() const noexcept { return partial_due_ns_; }
  /// No more is read; what is there is shown.
  void end();

 private:
  void take(std::string_view bytes, std::int64_t now_ns);
  void take_lines(std::string_view bytes);
  void show(const Piece& piece) const;
  void release_console() const;

  Channel channel_;
  Place place_;
  LineAssembler lines_;
  Tail tail_;
  std::unique_ptr<EventLoop::Watch> watch_;
  std::int64_t partial_due_ns_ = 0;
};

}  // namespace muster::launcher
