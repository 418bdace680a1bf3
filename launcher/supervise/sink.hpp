#pragma once

#include "supervise/event_loop.hpp"
#include "unique_fd.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace muster::launcher {

/// Our stdout or stderr: takes bytes at once and writes them as fast as whoever reads them allows,
/// never blocking, and never changing a descriptor that other programs share.
class Sink {
 public:
  /// `changed` is called when it has become empty, or cannot be written to any more.
  Sink(EventLoop& loop, int fd, std::function<void()> changed);

  /// Append here, then flush().
  std::string& buffer() noexcept { return buffer_; }
  void flush();

  bool empty() const noexcept { return buffer_.size() == written_; }
  /// Nobody should append more for now.
  bool full() const noexcept { return buffer_.size() - written_ > most_bytes; }
  /// 0, or the errno for which everything is thrown away: EPIPE when the reader is gone.
  int error() const noexcept { return error_; }

 private:
  static constexpr std::size_t most_bytes = std::size_t{256} * 1024;
  enum class Kind { unknown, own, file, socket, shared };

  void find_kind();
  long write_some();
  void wait();
  void fail(int error);

  EventLoop& loop_;
  int fd_;
  std::function<void()> changed_;
  Kind kind_ = Kind::unknown;
  UniqueFd own_;  ///< The same pipe or terminal, opened again: non-blocking for us alone.
  std::string buffer_;
  std::size_t written_ = 0;
  int error_ = 0;
  std::unique_ptr<EventLoop::Watch> watch_;
};

}  // namespace muster::launcher
