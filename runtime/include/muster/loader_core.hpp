#pragma once

#include <muster/data_loader_options.hpp>
#include <muster/load_request.hpp>
#include <muster/loop_state.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace muster {

class BatchReader;

/// One pass of a loader over its data set. Ending it, at any batch, ends its workers and its entry
/// in the LoopState.
class LoaderRun {
 public:
  LoaderRun(std::unique_ptr<BatchReader> reader, std::shared_ptr<LoopState> loop);
  ~LoaderRun();
  LoaderRun(const LoaderRun&) = delete;
  LoaderRun& operator=(const LoaderRun&) = delete;

  /// Blocks until the next batch is there; null at the end.
  std::shared_ptr<void> next();

 private:
  std::unique_ptr<BatchReader> reader_;
  std::shared_ptr<LoopState> loop_;
};

/// What a DataLoader is apart from the types of its data set and batches. Copies share the count of
/// epochs.
class LoaderCore {
 public:
  /// Throws ConfigError for options that exclude each other or are out of range.
  explicit LoaderCore(DataLoaderOptions options);

  /// The part for one rank. Throws ConfigError, with both numbers, if the batches cannot be split
  /// over `count`.
  LoaderCore sharded(Shard shard, std::shared_ptr<LoopState> loop, at::Device device,
                     std::int64_t default_seed) const;
  LoaderCore skipping(std::int64_t batches) const;

  /// Begins the next epoch over `samples` samples.
  std::unique_ptr<LoaderRun> start(std::int64_t samples, LoadFunction load);

  std::int64_t size(std::int64_t samples) const;
  const DataLoaderOptions& options() const noexcept { return options_; }
  Shard shard() const noexcept { return shard_; }
  std::optional<at::Device> device() const noexcept { return device_; }
  std::int64_t total_batch_size() const noexcept;
  std::int64_t epoch() const noexcept { return epochs_->current; }
  void set_epoch(std::int64_t epoch);

 private:
  struct Epochs {
    std::int64_t current = 0;  ///< Of the newest run; before the first, the one to come.
    std::int64_t next = 0;
  };

  DataLoaderOptions options_;
  Shard shard_;
  std::shared_ptr<LoopState> loop_;
  std::optional<at::Device> device_;
  std::int64_t default_seed_ = 42;
  std::int64_t skip_ = 0;  ///< Batches left out of the next run, once.
  std::shared_ptr<Epochs> epochs_;
};

}  // namespace muster
