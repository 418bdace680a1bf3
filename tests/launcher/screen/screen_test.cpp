#include "screen/screen.hpp"

#include <muster/error.hpp>

#include <catch2/catch_test_macros.hpp>

#include <csignal>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

/// A terminal of a given width.
class Terminal {
 public:
  explicit Terminal(unsigned short columns) : ours_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    REQUIRE(::grantpt(ours_) == 0);
    REQUIRE(::unlockpt(ours_) == 0);
    theirs_ = ::open(::ptsname(ours_), O_RDWR | O_NOCTTY);
    const winsize size{24, columns, 0, 0};
    ::ioctl(ours_, TIOCSWINSZ, &size);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    ::close(theirs_);
    ::close(ours_);
  }
  int fd() const { return theirs_; }

 private:
  int ours_;
  int theirs_ = -1;
};

/// Another stdout while it lives.
class Stdout {
 public:
  explicit Stdout(int fd) : kept_(::dup(STDOUT_FILENO)) {
    REQUIRE(::dup2(fd, STDOUT_FILENO) >= 0);
    ::close(fd);
  }
  Stdout(const Stdout&) = delete;
  Stdout& operator=(const Stdout&) = delete;
  ~Stdout() {
    ::dup2(kept_, STDOUT_FILENO);
    ::close(kept_);
  }

 private:
  int kept_;
};

/// The message of what print_out throws; empty if it throws nothing.
std::string print_fault(int fd) {
  const Stdout replaced(fd);
  try {
    print_out("text\n");
  } catch (const Error& error) {
    CHECK(error.exit_code() == ExitCode::internal);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("A terminal has its own width, and colour unless it is not wanted") {
  const Terminal terminal(132);
  CHECK(Screen::of(terminal.fd(), {{"TERM", "xterm"}}).width == 132);
  CHECK(Screen::of(terminal.fd(), {{"TERM", "xterm"}}).colour);
  CHECK(Screen::of(terminal.fd(), {{"TERM", "xterm"}, {"NO_COLOR", ""}}).colour);
  CHECK_FALSE(Screen::of(terminal.fd(), {{"TERM", "xterm"}, {"NO_COLOR", "1"}}).colour);
  CHECK_FALSE(Screen::of(terminal.fd(), {{"TERM", "dumb"}}).colour);
  CHECK_FALSE(Screen::of(terminal.fd(), {}).colour);
}

TEST_CASE("What is no terminal is 80 columns wide and plain") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const auto screen = Screen::of(ends[1], {{"TERM", "xterm"}});
  CHECK(screen.width == 80);
  CHECK_FALSE(screen.colour);
  CHECK(screen.red("x") == "x");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("What stdout does not take is an error, unless its reader left") {
  CHECK(print_fault(::open("/dev/full", O_WRONLY)) ==
        "cannot write to stdout: No space left on device");
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  ::close(ends[0]);
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  CHECK(print_fault(ends[1]).empty());
  std::signal(SIGPIPE, before);
}

TEST_CASE("Columns are letters, not bytes") {
  CHECK(columns_of("abc") == 3);
  CHECK(columns_of("\xc3\xa9\xe2\x96\x88") == 2);
  CHECK(padded("\xc3\xa9", 3) == "\xc3\xa9  ");
  CHECK(padded("long", 2) == "long");
}

TEST_CASE("Times and sizes have units") {
  CHECK(duration_text(0.0261) == "26 ms");
  CHECK(duration_text(12.44) == "12.4 s");
  CHECK(duration_text(185) == "3 min 05 s");
  CHECK(duration_text(7380) == "2 h 03 min");
  CHECK(bytes_text(512) == "512 B");
  CHECK(bytes_text(64.0 * 1024 * 1024) == "64 MiB");
  CHECK(bytes_text(23.45 * 1024 * 1024 * 1024) == "23.4 GiB");
}

}  // namespace muster::launcher
