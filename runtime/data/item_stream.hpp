#pragma once

#include <muster/loading.hpp>

#include "data/index_stream.hpp"

#include <memory>
#include <stop_token>

namespace muster {

/// The batches of one rank, or with dispatch of all ranks in turn, out of a stream. What reading
/// throws is an Error that names rank, epoch, batch and sample. Reading ends early, with
/// LoadStopped, once `stop` was requested.
std::unique_ptr<IndexStream> open_item_stream(const StreamLoading& stream,
                                              const DataLoaderOptions& options, Shard shard,
                                              const StreamStart& start, std::stop_token stop);

}  // namespace muster
