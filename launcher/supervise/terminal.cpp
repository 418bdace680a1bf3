#include "terminal.hpp"

#include <muster/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

constexpr int narrowest = 20;

winsize size_of(int terminal, int columns) {
  winsize size{};
  if (::ioctl(terminal, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size = {24, 80, 0, 0};
  // What is too narrow for the prefix is at least not too narrow for the program.
  const int left = std::max(size.ws_col - columns, std::min<int>(size.ws_col, narrowest));
  size.ws_col = static_cast<unsigned short>(left);
  return size;
}

UniqueFd open_other_side(int ours) {
  UniqueFd theirs(::ioctl(ours, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  char name[64];
  if (!theirs && ::ptsname_r(ours, name, sizeof name) == 0)
    theirs.reset(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  return theirs;
}

}  // namespace

Pty open_pty(int like, int columns) {
  Pty pty;
  pty.ours.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (pty.ours && ::grantpt(pty.ours.get()) == 0 && ::unlockpt(pty.ours.get()) == 0)
    pty.theirs = open_other_side(pty.ours.get());
  if (!pty.theirs) {
    throw Error(std::string("cannot open a pseudo-terminal: ") + std::strerror(errno) +
                "; with the output sent through a pipe (| cat) none is needed");
  }
  termios modes{};
  ::tcgetattr(pty.theirs.get(), &modes);
  ::cfmakeraw(&modes);
  ::tcsetattr(pty.theirs.get(), TCSANOW, &modes);
  resize_pty(pty.ours.get(), like, columns);
  return pty;
}

void resize_pty(int ours, int like, int columns) {
  const winsize size = size_of(like, columns);
  ::ioctl(ours, TIOCSWINSZ, &size);
}

bool may_read_terminal(int fd) {
  if (::isatty(fd) != 1) return false;
  // -1: it is no controlling terminal of ours, and has no foreground as far as we are concerned.
  const pid_t foreground = ::tcgetpgrp(fd);
  return foreground < 0 || foreground == ::getpgrp();
}

TerminalModes::TerminalModes(int fd)
    : fd_(fd), known_(may_read_terminal(fd) && ::tcgetattr(fd, &modes_) == 0) {}

TerminalModes::~TerminalModes() {
  termios now{};
  if (!known_ || !may_read_terminal(fd_) || ::tcgetattr(fd_, &now) != 0) return;
  const bool same = now.c_iflag == modes_.c_iflag && now.c_oflag == modes_.c_oflag &&
                    now.c_cflag == modes_.c_cflag && now.c_lflag == modes_.c_lflag &&
                    std::ranges::equal(now.c_cc, modes_.c_cc);
  if (!same) ::tcsetattr(fd_, TCSANOW, &modes_);
}

}  // namespace muster::launcher
