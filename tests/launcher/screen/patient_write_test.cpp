#include "screen/patient_write.hpp"

#include "unique_fd.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <termios.h>
#include <thread>
#include <unistd.h>

namespace muster::launcher {
namespace {

using std::chrono::milliseconds;

struct Ends {
  UniqueFd reads, writes;
};

Ends make_pipe() {
  int fds[2];
  REQUIRE(::pipe2(fds, O_CLOEXEC) == 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

/// Until nothing more fits, and leaves it blocking.
void fill(int fd) {
  const std::string bytes(4096, 'x');
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
  while (::write(fd, bytes.data(), bytes.size()) > 0) {
  }
  ::fcntl(fd, F_SETFL, 0);
}

std::string all_of(Ends& ends) {
  ends.writes.reset();
  std::string text;
  char buffer[65536];
  ssize_t bytes = 0;
  while ((bytes = ::read(ends.reads.get(), buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(bytes));
  return text;
}

TEST_CASE("a full pipe that nobody reads yet takes the last words") {
  Ends ends = make_pipe();
  fill(ends.writes.get());
  CHECK(write_patiently(ends.writes.get(), "the end\n", milliseconds(0)) == 0);
  CHECK(all_of(ends).ends_with("xthe end\n"));
}

TEST_CASE("nobody is waited for without an end") {
  Ends ends = make_pipe();
  // More than any pipe of ours may hold.
  const std::string much(std::size_t{8} << 20U, 'y');
  ::fcntl(ends.writes.get(), F_SETPIPE_SZ, 4096);
  CHECK(write_patiently(ends.writes.get(), much, milliseconds(50)) == EAGAIN);
  CHECK((::fcntl(ends.writes.get(), F_GETFL) & O_NONBLOCK) == 0);
  int pair[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  const UniqueFd one(pair[0]), other(pair[1]);
  CHECK(write_patiently(one.get(), much, milliseconds(50)) == EAGAIN);
}

TEST_CASE("a terminal that was stopped is not waited for without an end") {
  const UniqueFd screen(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  REQUIRE(::grantpt(screen.get()) == 0);
  REQUIRE(::unlockpt(screen.get()) == 0);
  const UniqueFd terminal(::open(::ptsname(screen.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  ::tcflow(terminal.get(), TCOOFF);
  CHECK(write_patiently(terminal.get(), "hidden\n", milliseconds(50)) == EAGAIN);
  ::tcflow(terminal.get(), TCOON);
  CHECK(write_patiently(terminal.get(), "shown\n", milliseconds(50)) == 0);
}

TEST_CASE("a slow reader gets everything") {
  Ends ends = make_pipe();
  std::string text(std::size_t{3} << 20U, 'z');
  text += "end";
  std::string found;
  std::thread reader([&] {
    char buffer[65536];
    ssize_t bytes = 0;
    while ((bytes = ::read(ends.reads.get(), buffer, sizeof buffer)) > 0) {
      found.append(buffer, static_cast<std::size_t>(bytes));
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  CHECK(write_patiently(ends.writes.get(), text, std::chrono::seconds(40)) == 0);
  ends.writes.reset();
  reader.join();
  CHECK(found.size() == text.size());
  CHECK((found == text));
}

TEST_CASE("a reader that is gone is an error, not a signal") {
  Ends ends = make_pipe();
  ends.reads.reset();
  // Opened again it may say ENXIO: either way nobody reads.
  const int error = write_patiently(ends.writes.get(), "text", milliseconds(0));
  CHECK(error == EPIPE);
}

TEST_CASE("files take everything") {
  const UniqueFd file(::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file) SKIP("no files without a name in /tmp");
  CHECK(write_patiently(file.get(), "text", milliseconds(0)) == 0);
  char buffer[8];
  CHECK(::pread(file.get(), buffer, sizeof buffer, 0) == 4);
}

}  // namespace
}  // namespace muster::launcher
