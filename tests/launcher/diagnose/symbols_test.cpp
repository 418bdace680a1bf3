// Names and places of functions.

#include "diagnose/symbols.hpp"

#include "diagnose/memory_map.hpp"

#include <catch2/catch_test_macros.hpp>

namespace muster::launcher {
namespace {

TEST_CASE("names of functions are told without parameters and what is between angles") {
  CHECK(readable_function("main") == "main");
  CHECK(readable_function("__libc_start_main") == "__libc_start_main");
  CHECK(readable_function("_ZNSt6vectorIiSaIiEE9push_backEOi") == "std::vector<>::push_back");
  CHECK(readable_function("f") == "f");  // A function of C; of C++'s types it is float.
  CHECK(readable_function("_ZN2at3addERKNS_6TensorES2_") == "at::add");
  CHECK(readable_function("_Z3runIiEvT_") == "run<>");
  CHECK(readable_function("_ZZ4mainENKUlvE_clEv") == "main::{lambda()#1}::operator()");
  CHECK(readable_function("_ZN12_GLOBAL__N_14workEi") == "(anonymous)::work");
  CHECK(readable_function("_ZN1AltERKS_") == "A::operator<");
}

TEST_CASE("a map of memory is read, and what it lacks is not there") {
  const auto map = MemoryMap::parse(
      "1000-3000 r--p 00000000 08:01 42                         /usr/lib/a b.so\n"
      "3000-5000 r-xp 00002000 08:01 42                         /usr/lib/a b.so\n"
      "5000-6000 rw-p 00000000 00:00 0 \n"
      "6000-7000 rw-p 00004000 08:01 42                         /usr/lib/a b.so\n"
      "no line of a map\n"
      "7000-8000 r-xp 00000000 00:00 0                          [vdso]\n");
  REQUIRE(map.find(0x3abc));
  CHECK(map.find(0x3abc)->path == "/usr/lib/a b.so");
  CHECK(map.find(0x3abc)->executable);
  CHECK(map.find(0x3abc)->inode == 42);
  REQUIRE(map.beginning_of(*map.find(0x3abc)));
  CHECK(map.beginning_of(*map.find(0x3abc))->start == 0x1000);
  CHECK(map.beginning_of(*map.find(0x6001))->start == 0x1000);
  CHECK(map.find(0x5001)->path.empty());
  CHECK(map.beginning_of(*map.find(0x5001)) == nullptr);
  CHECK(map.beginning_of(*map.find(0x7001))->path == "[vdso]");
  CHECK(map.find(0xfff) == nullptr);
  CHECK(map.find(0x8000) == nullptr);
  CHECK(MemoryMap::parse("").empty());
}

}  // namespace
}  // namespace muster::launcher
