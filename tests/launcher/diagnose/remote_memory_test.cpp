// Numbers in the memory of another process, which may be anything.

#include "diagnose/remote_memory.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <unistd.h>
#include <vector>

namespace muster::launcher {
namespace {

std::uint64_t address_of(const std::vector<char>& bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.data());
}

TEST_CASE("a number that goes on and on is none") {
  const std::vector<char> endless(std::size_t{1} << 20U, static_cast<char>(0x80));
  for (const bool with_sign : {false, true}) {
    RemoteMemory memory(::getpid());
    RemoteReader reader(memory, address_of(endless));
    if (with_sign) {
      reader.sleb();
    } else {
      reader.uleb();
    }
    CHECK(reader.failed());
    CHECK(reader.address() - address_of(endless) < 16);
  }
}

TEST_CASE("of another process only so much is kept") {
  const std::vector<char> large(std::size_t{32} << 20U, 'x');
  RemoteMemory memory(::getpid());
  std::size_t read = 0;
  char letter = 0;
  for (; read < large.size() && memory.read(address_of(large) + read, letter); read += 4096)
    CHECK(letter == 'x');
  CHECK(read >= std::size_t{4} << 20U);
  CHECK(read < large.size());
}

}  // namespace
}  // namespace muster::launcher
