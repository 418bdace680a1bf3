#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace muster::benchmark {

/// Collectives of the ranks that started this, over the communicator of that name, for tensors of
/// so many bytes: rank 0 prints one JSON line with the median milliseconds of each, and of copying
/// as many bytes in memory while the other ranks do so too.
void measure_collectives(const std::string& communicator, int repeats,
                         std::span<const std::int64_t> sizes);

}  // namespace muster::benchmark
