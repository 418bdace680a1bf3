#include "tracking/crc32c.hpp"

#include <array>

namespace muster::tracking {
namespace {

constexpr std::array<std::uint32_t, 256> table = [] {
  constexpr std::uint32_t reflected_polynomial = 0x82f63b78;
  std::array<std::uint32_t, 256> remainders{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) {
      remainder = (remainder >> 1U) ^ ((remainder & 1U) != 0 ? reflected_polynomial : 0);
    }
    remainders[byte] = remainder;
  }
  return remainders;
}();

}  // namespace

std::uint32_t crc32c(std::string_view bytes) noexcept {
  std::uint32_t sum = 0xffffffff;
  for (const char byte : bytes) {
    sum = (sum >> 8U) ^ table[(sum ^ static_cast<unsigned char>(byte)) & 0xffU];
  }
  return ~sum;
}

}  // namespace muster::tracking
