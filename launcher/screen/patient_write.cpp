#include "screen/patient_write.hpp"

#include "unique_fd.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

/// While it lives, a reader that is gone is an error and nothing else.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    ::sigprocmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;
  ~NoPipeSignal() {
    const timespec now{};
    if (!was_pending_) ::sigtimedwait(&pipe_, nullptr, &now);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{}, before_{};
  bool was_pending_ = false;
};

/// A descriptor seen as one that never blocks.
class Outlet {
 public:
  explicit Outlet(int fd) : fd_(fd) {
    struct stat facts {};
    ::fstat(fd, &facts);
    socket_ = S_ISSOCK(facts.st_mode);
    pipe_ = S_ISFIFO(facts.st_mode);
    may_block_ = pipe_ || ::isatty(fd) == 1;
    if (!may_block_) return;
    // Opened again, so that other programs' descriptors stay as they are.
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    own_.reset(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  }

  /// As write(2), with EAGAIN where it would block.
  ssize_t write(std::string_view text) const {
    if (socket_) return ::send(fd_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (own_) return ::write(own_.get(), text.data(), text.size());
    if (may_block_ && !wait(0)) {
      errno = EAGAIN;
      return -1;
    }
    // A pipe that is ready takes this much.
    constexpr std::size_t ready_for = 4096;
    return ::write(fd_, text.data(), may_block_ ? std::min(text.size(), ready_for) : text.size());
  }

  /// Whether it can be written to within that time.
  bool wait(int limit_ms) const {
    pollfd ready{own_ ? own_.get() : fd_, POLLOUT, 0};
    return ::poll(&ready, 1, limit_ms) == 1;
  }

  /// Makes room for `size` bytes more, if it is a pipe and may be as large.
  void grow(std::size_t size) const {
    const int now = pipe_ ? ::fcntl(fd_, F_GETPIPE_SZ) : -1;
    if (now > 0) ::fcntl(fd_, F_SETPIPE_SZ, now + static_cast<int>(size));
  }

 private:
  int fd_;
  bool socket_ = false, pipe_ = false, may_block_ = false;
  UniqueFd own_;
};

}  // namespace

int write_patiently(int fd, std::string_view text, std::chrono::milliseconds patience) {
  const NoPipeSignal no_signal;
  const Outlet outlet(fd);
  bool grown = false;
  while (!text.empty()) {
    const ssize_t count = outlet.write(text);
    const int error = errno;
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (error == EAGAIN && !grown) {
      outlet.grow(text.size());
      grown = true;
    } else if (error == EAGAIN) {
      if (!outlet.wait(static_cast<int>(patience.count()))) return EAGAIN;
    } else if (error != EINTR) {
      return error;
    }
  }
  return 0;
}

}  // namespace muster::launcher
