#pragma once

#include <muster/data_loader_options.hpp>

#include <cstdint>

namespace muster {

/// Positions [begin, end) of an epoch's order that make one batch of one rank. Positions past the
/// last sample wrap around to the first.
struct BatchSpan {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t real_samples = -1;  ///< Of the global batch; -1: all of it.
  std::int64_t next = 0;           ///< Where the epoch goes on after this round.
};

/// Batches of equal size, cut from an order of `samples` samples: the share of one rank. Pure
/// arithmetic: any batch is found at once, whatever the size of the data set.
///
/// The ranks take turns: a round is one batch for each, [round * width, ...) in rank order. What is
/// left after the last full round is the tail: dropped, completed by wrapping around, or handed out
/// as far as it goes.
class BatchPlan {
 public:
  /// From `position` samples on, >= 0. Throws ConfigError if batch_size is not positive, or does
  /// not split over the shards.
  BatchPlan(std::int64_t samples, const DataLoaderOptions& options, Shard shard,
            std::int64_t position = 0);

  std::int64_t size() const noexcept { return size_; }    ///< Batches of this rank.
  std::int64_t width() const noexcept { return width_; }  ///< Samples of a round.
  std::int64_t batch() const noexcept { return batch_; }  ///< Samples of one rank's batch.
  /// Batch `number` of this rank, 0 <= number < size().
  BatchSpan operator[](std::int64_t number) const noexcept;

 private:
  std::int64_t samples_, position_;
  std::int64_t batch_, width_;
  std::int64_t offset_;  ///< Of this rank in a round.
  bool completed_;
  std::int64_t size_;
};

/// Batches of this rank out of `batches` given by a user's sampler: the ranks take turns.
std::int64_t shared_size(std::int64_t batches, const DataLoaderOptions& options,
                         Shard shard) noexcept;

}  // namespace muster
