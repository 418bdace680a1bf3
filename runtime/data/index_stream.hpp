#pragma once

#include <muster/data_loader_options.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace muster {

/// What to load for one batch of this rank.
struct IndexBatch {
  std::int64_t number = 0;  ///< Of this rank's batches in the epoch, from 0.
  std::vector<std::int64_t> indices;
  std::int64_t real_samples = -1;  ///< Of the global batch; -1: all of it.
  bool last = false;
};

/// The batches of one rank in one epoch, made one at a time.
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
  std::int64_t skip = 0;  ///< Batches of this rank that are left out.
};

/// Throws ConfigError for an option that cannot be right, also later from next(): a sampler's index
/// that is not in the data set, or an empty batch.
std::unique_ptr<IndexStream> open_stream(std::int64_t samples, const DataLoaderOptions& options,
                                         Shard shard, const StreamStart& start);

/// Batches of this rank in an epoch. A sampler that is a function is run through to know.
std::int64_t stream_size(std::int64_t samples, const DataLoaderOptions& options, Shard shard,
                         std::int64_t epoch);

/// Throws ConfigError for options that exclude each other or are out of range.
void check_options(const DataLoaderOptions& options);

}  // namespace muster
