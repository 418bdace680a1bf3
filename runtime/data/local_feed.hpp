#pragma once

#include <muster/loading.hpp>

#include "data/batch_feed.hpp"
#include "data/index_stream.hpp"

#include <memory>

namespace muster {

/// An epoch as this process reads it: the batches of `shard`, or with dispatch of all ranks in
/// turn, for `ahead` of which there is room.
std::unique_ptr<BatchFeed> open_feed(const Loading& loading, const DataLoaderOptions& options,
                                     Shard shard, const StreamStart& start);

}  // namespace muster
