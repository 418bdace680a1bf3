#include <muster/write_all.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <thread>
#include <unistd.h>

namespace muster {

TEST_CASE("a non-blocking pipe gets all of a text that it cannot hold") {
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  REQUIRE(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
  std::string text;
  for (int i = 0; i < 100000; ++i) text += std::to_string(i) + "\n";
  int result = -1;
  std::thread writer([&] {
    result = write_all(ends[1], text);
    close(ends[1]);
  });
  std::string found;
  char buffer[4096];
  for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof buffer)) > 0;) {
    found.append(buffer, static_cast<std::size_t>(count));
  }
  writer.join();
  close(ends[0]);
  CHECK(result == 0);
  CHECK(found.size() == text.size());
  CHECK(found == text);
}

TEST_CASE("what cannot be written is told") {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  REQUIRE(full >= 0);
  CHECK(write_all(full, "text") == ENOSPC);
  CHECK(write_all(full, "") == 0);
  close(full);
  CHECK(write_all(-1, "text") == EBADF);
}

}  // namespace muster
