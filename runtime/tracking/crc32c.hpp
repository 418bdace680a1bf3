#pragma once

#include <cstdint>
#include <string_view>

namespace muster::tracking {

/// The Castagnoli checksum (RFC 3720).
std::uint32_t crc32c(std::string_view bytes) noexcept;

}  // namespace muster::tracking
