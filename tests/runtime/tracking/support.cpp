#include "support.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <csignal>
#include <exception>
#include <sys/resource.h>
#include <unistd.h>

namespace muster::test {

FullDisk::FullDisk(std::uint64_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  limit_ = std::exchange(limit.rlim_cur, bytes);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

FullDisk::~FullDisk() {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = limit_;
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler_);
}

std::string said(const std::function<void()>& work) {
  // A pipe, since a file would be subject to FullDisk.
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const int before = dup(2);
  dup2(ends[1], 2);
  close(ends[1]);
  std::exception_ptr thrown;
  try {
    work();
  } catch (...) {
    thrown = std::current_exception();
  }
  dup2(before, 2);
  close(before);
  std::string text(1 << 16, '\0');
  const auto count = read(ends[0], text.data(), text.size());
  close(ends[0]);
  if (thrown) std::rethrow_exception(thrown);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return text;
}

}  // namespace muster::test
