#pragma once

#include <muster/tar_shards.hpp>

#include "data/disk/mapped_file.hpp"

#include <cstddef>
#include <memory>
#include <optional>

namespace muster {

/// The first sample at or after `offset`, which becomes where the next one begins; none at the end
/// of the file. Throws DataError as next_member() does, and for two files of one ending.
std::optional<TarSample> read_tar_sample(const std::shared_ptr<const MappedFile>& file,
                                         std::size_t& offset);

}  // namespace muster
