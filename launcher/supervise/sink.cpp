#include "sink.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace muster::launcher {

Sink::Sink(EventLoop& loop, int fd, std::function<void()> changed)
    : loop_(loop), fd_(fd), changed_(std::move(changed)) {}

void Sink::find_kind() {
  struct stat status {};
  ::fstat(fd_, &status);
  const bool terminal = ::isatty(fd_) == 1;
  if (S_ISSOCK(status.st_mode)) {
    kind_ = Kind::socket;
  } else if (S_ISFIFO(status.st_mode) || terminal) {
    const std::string path = "/proc/self/fd/" + std::to_string(fd_);
    own_.reset(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    kind_ = own_ ? Kind::own : Kind::shared;
  } else {
    kind_ = Kind::file;
  }
}

/// As write(2), with EAGAIN where it would block.
long Sink::write_some() {
  const char* bytes = buffer_.data() + written_;
  const std::size_t size = buffer_.size() - written_;
  switch (kind_) {
    case Kind::own:
      return ::write(own_.get(), bytes, size);
    case Kind::socket:
      return ::send(fd_, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    case Kind::unknown:
    case Kind::file:
      return ::write(fd_, bytes, size);
    case Kind::shared:
      break;
  }
  pollfd ready{fd_, POLLOUT, 0};
  if (::poll(&ready, 1, 0) == 0) {
    errno = EAGAIN;
    return -1;
  }
  // A pipe that is ready takes this much without blocking.
  return ::write(fd_, bytes, std::min<std::size_t>(size, 4096));
}

void Sink::flush() {
  if (kind_ == Kind::unknown && !buffer_.empty()) find_kind();
  while (!empty()) {
    if (error_ != 0) break;
    const long bytes = write_some();
    if (bytes >= 0) {
      written_ += static_cast<std::size_t>(bytes);
    } else if (errno == EAGAIN) {
      wait();
      return;
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
  buffer_.clear();
  written_ = 0;
}

void Sink::wait() {
  // What is written need not be kept; moved rarely, for it costs a copy.
  if (written_ > most_bytes) {
    buffer_.erase(0, written_);
    written_ = 0;
  }
  if (watch_) {
    watch_->resume();
    return;
  }
  const auto ready = [this] {
    flush();
    if (!empty()) return;
    watch_->pause();
    changed_();
  };
  constexpr auto writable = EventLoop::Direction::writable;
  watch_ = kind_ == Kind::own ? loop_.watch(own_.get(), writable, ready)
                              : loop_.watch_shared(fd_, writable, ready);
}

void Sink::fail(int error) {
  error_ = error;
  changed_();
}

}  // namespace muster::launcher
