#include "fuzz/fuzz.hpp"

#include <cstddef>
#include <cstdint>

/// What clang's libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  muster::fuzz::try_input({reinterpret_cast<const char*>(data), size});
  return 0;
}
