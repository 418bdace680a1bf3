#include "supervise/error_file.hpp"

#include "launcher/temporary_folder.hpp"
#include "supervise/kernel.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <sys/stat.h>

namespace muster::launcher {
namespace {

using muster::test::TemporaryFolder;

constexpr std::int64_t second_ns = 1'000'000'000;

TEST_CASE("an error file of torch's tells its message; anything else tells nothing") {
  const TemporaryFolder folder;
  const auto message_of = [&](const std::string& text) {
    folder.write("e.json", text);
    const auto file = read_error_file(folder.path() + "/e.json", 0);
    return file ? file->message : "";
  };
  CHECK(message_of(
            R"({"message": {"message": "ValueError: no", "extraInfo": {"timestamp": "1"}}})") ==
        "ValueError: no");
  CHECK(message_of(R"({"message": "plain"})") == "plain");
  CHECK(message_of(R"({"message": {"message": 3}})").empty());
  CHECK(message_of(R"({"message": {"extraInfo": 3}})").empty());
  CHECK(message_of("[1, 2]").empty());
  CHECK(message_of("{\"message\"").empty());
  CHECK(message_of("").empty());
  CHECK(message_of(std::string(3'000'000, '[')).empty());
  CHECK_FALSE(read_error_file(folder.path() + "/absent", 0));
  const auto fifo = folder.path() + "/fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK_FALSE(read_error_file(fifo, 0));
}

TEST_CASE("an error file has the call stack, and the time when it was written") {
  const TemporaryFolder folder;
  const std::int64_t before = monotonic_ns();
  folder.write("e.json", R"({"message": {"message": "ValueError: no", "extraInfo":
                             {"py_callstack": "Traceback:\n  File 1", "timestamp": "1"}}})");
  const auto file = read_error_file(folder.path() + "/e.json", before);
  REQUIRE(file);
  CHECK(file->call_stack == "Traceback:\n  File 1");
  CHECK(file->written_ns > before - second_ns / 50);
  CHECK(file->written_ns <= monotonic_ns());
}

TEST_CASE("a file that was there before the rank is not its own") {
  const TemporaryFolder folder;
  folder.write("e.json", R"({"message": "of another attempt"})");
  CHECK_FALSE(read_error_file(folder.path() + "/e.json", monotonic_ns() + second_ns));
}

}  // namespace
}  // namespace muster::launcher
