#pragma once

#include "data/index_stream.hpp"

namespace muster {

/// The share of one rank in the batches of a user's batch sampler. Rank r takes every count-th
/// batch from the r-th. A last round with too few batches is completed with whole batches from the
/// epoch's beginning (even_batches), dropped (drop_last), or handed out as far as it goes.
std::unique_ptr<IndexStream> open_sampled_stream(std::int64_t samples,
                                                 const DataLoaderOptions& options, Shard shard,
                                                 const StreamStart& start);

}  // namespace muster
