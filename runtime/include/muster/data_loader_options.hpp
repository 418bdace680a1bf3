#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace muster {

/// Batches chosen by the user instead of cut from an order: a list that is the same in every epoch,
/// or a function that starts the sequence of an epoch. Batches may differ in size; none may be
/// empty.
class BatchSampler {
 public:
  using Batch = std::vector<std::int64_t>;                 ///< Indices into the data set.
  using Sequence = std::function<std::optional<Batch>()>;  ///< The next batch; nothing at the end.

  BatchSampler() = default;                  ///< None.
  BatchSampler(std::vector<Batch> batches);  // NOLINT(google-explicit-constructor)
  /// `start(epoch)` returns a Sequence or a list of batches. It must not depend on the rank: every
  /// rank calls it and takes its share. Called on the thread that runs the loop.
  template <class Function>
    requires std::invocable<Function&, std::int64_t>
  BatchSampler(Function start)  // NOLINT(google-explicit-constructor)
      : start_([start = std::move(start)](std::int64_t epoch) mutable {
          return as_sequence(start(epoch));
        }) {}

  explicit operator bool() const noexcept { return static_cast<bool>(start_); }
  Sequence start(std::int64_t epoch) const { return start_(epoch); }

 private:
  static Sequence as_sequence(Sequence sequence) { return sequence; }
  static Sequence as_sequence(std::vector<Batch> batches);

  std::function<Sequence(std::int64_t)> start_;
};

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
  std::function<std::vector<std::int64_t>(std::int64_t epoch)> sampler = nullptr;
  BatchSampler batch_sampler = {};  ///< Instead of batch_size, shuffle, sampler and split_batches.
};

/// Which part of every round of batches a rank takes.
struct Shard {
  int index = 0;  ///< 0 <= index < count.
  int count = 1;
  bool operator==(const Shard&) const = default;
};

}  // namespace muster
