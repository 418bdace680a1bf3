#pragma once

#include <muster/data_loader_options.hpp>
#include <muster/loader_state.hpp>
#include <muster/loading.hpp>
#include <muster/loop_state.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace muster {

class BatchFeed;
class DispatchChannel;

/// Where the loader and its copies are in their data.
struct LoaderProgress {
  std::int64_t current = 0;  ///< Epoch of the newest run; before the first, the one to come.
  std::int64_t next = 0;
  std::int64_t resume = 0;               ///< Where the next run begins: a LoaderState's position.
  std::int64_t epoch = 0, position = 0;  ///< After the newest batch that was handed out.
};

/// One pass of a loader over its data set. Ending it, at any batch, ends its workers and its entry
/// in the LoopState.
class LoaderRun {
 public:
  LoaderRun(std::unique_ptr<BatchFeed> feed, std::shared_ptr<LoopState> loop,
            std::shared_ptr<LoaderProgress> progress);
  ~LoaderRun();
  LoaderRun(const LoaderRun&) = delete;
  LoaderRun& operator=(const LoaderRun&) = delete;

  /// Blocks until the next batch is there; null at the end.
  std::shared_ptr<void> next();

 private:
  void moved_to(bool end, std::int64_t position);

  std::unique_ptr<BatchFeed> feed_;
  std::shared_ptr<LoopState> loop_;
  std::shared_ptr<LoaderProgress> progress_;
  std::int64_t epoch_;
};

/// What a DataLoader is apart from the types of its data set and batches. Copies share where they
/// are in the data.
class LoaderCore {
 public:
  /// Throws ConfigError for options that exclude each other or are out of range.
  explicit LoaderCore(DataLoaderOptions options, bool is_stream = false);

  /// The part for one rank. Throws ConfigError, with both numbers, if the batches cannot be split
  /// over `count`. With dispatch all ranks call it.
  LoaderCore sharded(Shard shard, std::shared_ptr<LoopState> loop, at::Device device,
                     std::int64_t default_seed) const;
  LoaderCore skipping(std::int64_t batches) const;

  /// Begins the next epoch.
  std::unique_ptr<LoaderRun> start(const Loading& loading);

  /// Throws ConfigError for a stream.
  std::int64_t size(std::optional<std::int64_t> samples) const;
  LoaderState state(std::optional<std::int64_t> samples) const;
  /// Throws ConfigError, with both, if the order of `state` is another.
  void load_state(const LoaderState& state, std::optional<std::int64_t> samples);
  const DataLoaderOptions& options() const noexcept { return options_; }
  Shard shard() const noexcept { return shard_; }
  std::optional<at::Device> device() const noexcept { return device_; }
  std::int64_t total_batch_size() const noexcept;
  std::int64_t epoch() const noexcept { return progress_->current; }
  void set_epoch(std::int64_t epoch);

 private:
  std::int64_t seed() const { return options_.seed.value_or(default_seed_); }
  DataLoaderOptions options_of_run() const;
  Shard part() const noexcept { return options_.sharded ? Shard{} : shard_; }

  DataLoaderOptions options_;
  Shard shard_;
  std::shared_ptr<LoopState> loop_;
  std::optional<at::Device> device_;
  std::int64_t default_seed_ = 42;
  std::int64_t skip_ = 0;  ///< Batches left out of the next run, once.
  std::shared_ptr<LoaderProgress> progress_;
  std::shared_ptr<DispatchChannel> channel_;  ///< Null: this rank reads for itself.
};

}  // namespace muster
