#pragma once

#include <muster/data_loader_options.hpp>
#include <muster/stream.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace muster {

/// What to load for one batch of a rank.
struct IndexBatch {
  std::int64_t number = 0;  ///< Of the rank's batches in the epoch, from 0.
  std::vector<std::int64_t> indices;
  std::int64_t real_samples = -1;  ///< Of the global batch; -1: all of it.
  bool last = false;
  std::vector<Item> items;    ///< Of a stream, instead of indices.
  std::int64_t samples = -1;  ///< Of this batch; -1: cannot be told.
  int rank = 0;               ///< Whose it is.
  /// Where the epoch goes on after this round: a number of samples, or of whole batches that were
  /// given.
  std::int64_t position = 0;
};

/// The batches of one rank in one epoch, or of all ranks in turn, made one at a time.
class IndexStream {
 public:
  virtual ~IndexStream() = default;
  IndexStream(const IndexStream&) = delete;
  IndexStream& operator=(const IndexStream&) = delete;
  virtual std::optional<IndexBatch> next() = 0;

 protected:
  IndexStream() = default;
};

/// Where in the training a stream begins.
struct StreamStart {
  std::int64_t seed = 42;
  std::int64_t epoch = 0;
  std::int64_t skip = 0;      ///< Batches of this rank that are left out,
  std::int64_t position = 0;  ///< after this many samples (or whole batches) of all ranks.
};

/// Throws ConfigError for an option that cannot be right, also later from next(): a sampler's index
/// that is not in the data set, or an empty batch.
std::unique_ptr<IndexStream> open_stream(std::int64_t samples, const DataLoaderOptions& options,
                                         Shard shard, const StreamStart& start);

/// The batches of all ranks, as rank 0 reads them to send them out: of a round, rank 0's first. The
/// samples of a last round that is not full are spread evenly, so that ranks differ by one at most;
/// with even_batches they are completed to that.
std::unique_ptr<IndexStream> open_dispatch(std::int64_t samples, const DataLoaderOptions& options,
                                           int ranks, const StreamStart& start);

/// Batches of this rank in an epoch. A sampler that is a function is run through to know.
std::int64_t stream_size(std::int64_t samples, const DataLoaderOptions& options, Shard shard,
                         const StreamStart& start);

/// Throws ConfigError for options that exclude each other or are out of range.
void check_options(const DataLoaderOptions& options);
/// Also for those that a stream cannot follow.
void check_stream_options(const DataLoaderOptions& options);

}  // namespace muster
