#pragma once

#include <muster/sampler.hpp>

#include <cstdint>
#include <optional>

namespace muster {

/// How a DataLoader reads its data set. All ranks must give the same.
struct DataLoaderOptions {
  std::int64_t batch_size =
      1;                   ///< Samples a rank and batch; with split_batches: of all ranks together.
  bool shuffle = false;    ///< A new order each epoch, a function of (seed, epoch) only.
  bool drop_last = false;  ///< Leaves out the samples that do not fill a batch on every rank.
  int num_workers = 0;     ///< Threads that load ahead; 0: the thread that runs the loop loads.
  int prefetch = 0;        ///< Batches loaded ahead, in all; 0: two a worker.
  std::optional<std::int64_t> seed =
      std::nullopt;  ///< Unset: train.seed, or 42 in a loader that was not prepared.
  /// Several ranks: completes the last round with samples from the epoch's beginning, so that all
  /// ranks have equally many batches of one size. Off, the last batches may be smaller or missing
  /// on later ranks: for evaluation, since a rank that trains with one batch less leaves the others
  /// waiting in theirs; and each rank's mean counts the same, however small its batch.
  bool even_batches = true;
  bool split_batches = false;  ///< batch_size is cut into equal parts, one a rank.
  /// The order of an epoch, instead of 0, 1, 2, ...: indices into the data set, the same on every
  /// rank.
  Sampler sampler = {};
  BatchSampler batch_sampler = {};  ///< Instead of batch_size, shuffle, sampler and split_batches.
  /// The data set (or sampler) yields this rank's samples only: nothing is shared out, completed or
  /// left out, and ranks may have different numbers of batches.
  bool sharded = false;
  /// Rank 0 alone reads, ahead on a thread, and sends each rank its part.
  bool dispatch = false;
};

/// Which part of every round of batches a rank takes.
struct Shard {
  int index = 0;  ///< 0 <= index < count.
  int count = 1;
  bool operator==(const Shard&) const = default;
};

}  // namespace muster
