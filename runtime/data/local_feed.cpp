#include "data/local_feed.hpp"

#include "data/batch_reader.hpp"
#include "data/item_stream.hpp"

#include <algorithm>

namespace muster {

std::unique_ptr<BatchFeed> open_feed(const Loading& loading, const DataLoaderOptions& options,
                                     Shard shard, const StreamStart& start) {
  ReaderOptions reading{.workers = options.num_workers,
                        .prefetch = options.prefetch,
                        .workers_read = !loading.samples,
                        .seed = start.seed,
                        .epoch = start.epoch,
                        .shard = shard};
  std::unique_ptr<IndexStream> stream;
  if (!loading.samples) {
    stream = open_item_stream(loading.stream, options, shard, start, reading.stop.get_token());
  } else if (options.dispatch) {
    stream = open_dispatch(*loading.samples, options, shard.count, start);
  } else {
    stream = open_stream(*loading.samples, options, options.sharded ? Shard{} : shard, start);
  }
  if (options.dispatch) {
    // A reader that takes as long as a step is to cost nothing.
    reading.workers = std::max(1, options.num_workers);
    const int rounds = options.prefetch > 0 ? options.prefetch : 2 * reading.workers;
    reading.prefetch = rounds * shard.count;
  }
  return std::make_unique<BatchReader>(std::move(stream), loading.load, reading);
}

}  // namespace muster
