#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster::launcher {

using Digest = std::array<std::uint8_t, 32>;

/// SHA-256 (FIPS 180-4) of what is added, in pieces of any size.
///
/// Ours, because the launcher needs the C library and nothing else: hash and code are specified to
/// the last bit, the tests hold them to the published vectors, and no step or table look-up depends
/// on what is hashed, so that time tells nothing of a key.
class Sha256 {
 public:
  Sha256& add(std::string_view bytes);
  /// Call once, last.
  Digest finish();

 private:
  void mix(const std::uint8_t* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> block_{};
  std::size_t filled_ = 0;
  std::uint64_t size_ = 0;  ///< Bytes in all.
};

Digest sha256(std::string_view bytes);

/// HMAC-SHA-256 (RFC 2104): only who has `key` can make it for `message`.
Digest hmac_sha256(std::string_view key, std::string_view message);

/// Takes the same time wherever the two differ.
bool equal(const Digest& one, const Digest& other) noexcept;

std::string_view bytes_of(const Digest& digest) noexcept;

}  // namespace muster::launcher
