#include <muster/log.hpp>

#include "config/support.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <thread>

namespace muster {
using test::stderr_of;

TEST_CASE("a line names the program, and the rank if there are several") {
  CHECK(stderr_of([] { log(LogLevel::info, "ready"); }) == "muster: ready\n");
  CHECK(stderr_of([] {
          configure_log(LogLevel::info, 3);
          log(LogLevel::warning, "two\n  lines\n");
        }) == "[3] muster: two\n[3]   lines\n");
  CHECK(stderr_of([] {
          setenv("MUSTER_PREFIXED", "1", 1);
          configure_log(LogLevel::info, 3);
          log(LogLevel::error, "once");
        }) == "muster: once\n");
}

TEST_CASE("what is less important than the level is not printed") {
  CHECK(stderr_of([] {
          log(LogLevel::debug, "hidden");
          configure_log(LogLevel::error, -1);
          log(LogLevel::warning, "hidden");
          log(LogLevel::error, "shown");
          configure_log(LogLevel::off, -1);
          log(LogLevel::error, "hidden");
          log(LogLevel::off, "hidden");
        }) == "muster: shown\n");
  CHECK(stderr_of([] {
          setenv("MUSTER_LOG_LEVEL", "debug", 1);
          log(LogLevel::debug, "shown");
        }) == "muster: shown\n");
}

TEST_CASE("lines of several threads are whole") {
  const std::string text = stderr_of([] {
    const auto write = [](const char* word) {
      for (int i = 0; i < 200; ++i) log(LogLevel::info, std::string(50, word[0]));
    };
    std::thread one(write, "a"), other(write, "b");
    one.join();
    other.join();
  });
  const std::string a = "muster: " + std::string(50, 'a') + "\n";
  const std::string b = "muster: " + std::string(50, 'b') + "\n";
  int lines = 0;
  for (std::size_t at = 0; at < text.size(); at += a.size(), ++lines) {
    const std::string line = text.substr(at, a.size());
    if (line != a && line != b) FAIL(line);
  }
  CHECK(lines == 400);
}

}  // namespace muster
