#include "hmac_sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

namespace muster::launcher {
namespace {

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> round_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr std::size_t block_bytes = 64;
constexpr std::size_t length_bytes = 8;

std::array<std::uint32_t, 64> schedule_of(const std::uint8_t* block) {
  std::array<std::uint32_t, 64> words{};
  for (std::size_t i = 0; i < 16; ++i) {
    for (std::size_t byte = 0; byte < 4; ++byte) words[i] = words[i] << 8U | block[4 * i + byte];
  }
  for (std::size_t i = 16; i < 64; ++i) {
    const auto near = words[i - 2], far = words[i - 15];
    words[i] = words[i - 16] + words[i - 7] + (std::rotr(far, 7) ^ std::rotr(far, 18) ^ far >> 3U) +
               (std::rotr(near, 17) ^ std::rotr(near, 19) ^ near >> 10U);
  }
  return words;
}

/// The key of one of the two hashes: padded to a block, each byte changed by `pad`.
std::string padded_key(std::string_view key, char pad) {
  std::string block(key.size() > block_bytes ? bytes_of(sha256(key)) : key);
  block.resize(block_bytes, '\0');
  for (char& byte : block) byte = static_cast<char>(byte ^ pad);
  return block;
}

}  // namespace

void Sha256::mix(const std::uint8_t* block) {
  const auto words = schedule_of(block);
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const auto one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                     ((e & f) ^ (~e & g)) + round_constants[i] + words[i];
    const auto two =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + one;
    d = c, c = b, b = a, a = one + two;
  }
  const std::array<std::uint32_t, 8> mixed{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < mixed.size(); ++i) state_[i] += mixed[i];
}

Sha256& Sha256::add(std::string_view bytes) {
  size_ += bytes.size();
  while (!bytes.empty()) {
    const auto part = std::min(bytes.size(), block_bytes - filled_);
    std::memcpy(block_.data() + filled_, bytes.data(), part);
    filled_ += part;
    bytes.remove_prefix(part);
    if (filled_ < block_bytes) break;
    mix(block_.data());
    filled_ = 0;
  }
  return *this;
}

Digest Sha256::finish() {
  const std::uint64_t bits = size_ * 8;
  block_[filled_++] = 0x80;
  if (filled_ > block_bytes - length_bytes) {
    std::fill(block_.begin() + static_cast<std::ptrdiff_t>(filled_), block_.end(), 0);
    mix(block_.data());
    filled_ = 0;
  }
  std::fill(block_.begin() + static_cast<std::ptrdiff_t>(filled_), block_.end(), 0);
  for (std::size_t i = 0; i < length_bytes; ++i)
    block_[block_bytes - 1 - i] = static_cast<std::uint8_t>(bits >> (8 * i));
  mix(block_.data());
  Digest digest;
  for (std::size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

Digest sha256(std::string_view bytes) { return Sha256().add(bytes).finish(); }

Digest hmac_sha256(std::string_view key, std::string_view message) {
  const auto inner = Sha256().add(padded_key(key, 0x36)).add(message).finish();
  return Sha256().add(padded_key(key, 0x5c)).add(bytes_of(inner)).finish();
}

bool equal(const Digest& one, const Digest& other) noexcept {
  unsigned difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    difference |= static_cast<unsigned>(one[i] ^ other[i]);
  return difference == 0;
}

std::string_view bytes_of(const Digest& digest) noexcept {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace muster::launcher
