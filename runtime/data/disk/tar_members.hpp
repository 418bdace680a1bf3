#pragma once

#include "data/disk/mapped_file.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace muster {

/// A regular file in a tar file.
struct TarMember {
  std::string name;
  std::span<const std::byte> bytes;
  std::size_t next = 0;  ///< Where the headers of what follows begin.
};

/// The first regular file whose headers begin at `offset` or later; none at the end. Knows ustar,
/// GNU's and pax's long names and large sizes. Throws DataError for a file that is no tar file, cut
/// off, compressed or sparse.
std::optional<TarMember> next_member(const MappedFile& file, std::size_t offset);

}  // namespace muster
