#pragma once

#include <muster/batch_source.hpp>
#include <muster/collate.hpp>
#include <muster/data_loader_options.hpp>
#include <muster/dataset.hpp>
#include <muster/loader_core.hpp>
#include <muster/stream_source.hpp>
#include <muster/to_device.hpp>

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace muster {

/// Reads a data set batch by batch: `for (auto& batch : loader)`. Works as it is, as a world of
/// one; Accelerator::prepare gives the part for this rank.
///
/// A data set has size() and one of
/// - get_batch(indices) -> batch; indices: std::vector, std::span or at::ArrayRef of std::int64_t
///   or std::size_t
/// - get(index) -> example; examples are collated into a batch
/// - get(index, at::Generator) -> example; the generator is seeded from (seed, epoch, index)
///
/// Those of torch::data do too. With several workers, several threads call it, and the collate
/// function, at the same time. It is read with gradients off.
///
/// Or it is a Stream, without a size: every rank reads all of it and keeps its part. One thread at
/// a time reads it; workers collate.
///
/// Each begin() is an epoch, whose order is a function of (seed, epoch) only. The next one begins
/// when an epoch was begun, however it ended; set_epoch(n) chooses. What a data set throws comes
/// out of the loop as an Error that names rank, epoch, batch and sample. Copies share the data set
/// and the count of epochs. One thread at a time.
template <class Dataset, class Collate = DefaultCollate>
class DataLoader {
 public:
  using Source = BatchSource<Dataset, Collate>;
  using Batch = typename Source::Batch;

  /// Throws ConfigError for options that exclude each other or are out of range.
  explicit DataLoader(Dataset dataset, DataLoaderOptions options = {}, Collate collate = {})
      : DataLoader(std::make_shared<Dataset>(std::move(dataset)), std::move(options),
                   std::move(collate)) {}
  explicit DataLoader(std::shared_ptr<Dataset> dataset, DataLoaderOptions options = {},
                      Collate collate = {})
      : source_{std::move(dataset), std::move(collate)},
        core_(std::move(options), !Indexed<Dataset>) {}

  /// Moves from batch to batch; ends the epoch when it is destroyed.
  class Iterator {
   public:
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;

    Batch& operator*() const noexcept { return *batch_; }
    Batch* operator->() const noexcept { return batch_.get(); }
    Iterator& operator++() {
      advance();
      return *this;
    }
    void operator++(int) { advance(); }
    bool operator==(std::default_sentinel_t) const noexcept { return !batch_; }

   private:
    friend DataLoader;
    Iterator(std::unique_ptr<LoaderRun> run, std::optional<at::Device> device)
        : run_(std::move(run)), device_(device) {
      advance();
    }
    void advance() {
      batch_.reset();
      batch_ = std::static_pointer_cast<Batch>(run_->next());
      if (!batch_) {
        run_.reset();
      } else if (device_) {
        *batch_ = to_device(std::move(*batch_), *device_);
      }
    }

    std::unique_ptr<LoaderRun> run_;
    std::optional<at::Device> device_;
    std::shared_ptr<Batch> batch_;
  };

  /// Begins an epoch and loads its first batch.
  Iterator begin() { return Iterator(core_.start(source_.loading()), core_.device()); }
  std::default_sentinel_t end() const noexcept { return {}; }

  /// Batches of this rank in the next epoch. Throws ConfigError for a stream.
  std::int64_t size() const { return core_.size(source_.loading().samples); }
  /// Samples that all ranks together take at once, the last time maybe fewer. Meaningless with a
  /// batch_sampler.
  std::int64_t total_batch_size() const noexcept { return core_.total_batch_size(); }
  /// The epoch that was begun last, or before the first the one to come.
  std::int64_t epoch() const noexcept { return core_.epoch(); }
  /// The next begin() is epoch `epoch`, >= 0, also of copies.
  void set_epoch(std::int64_t epoch) { core_.set_epoch(epoch); }

  /// Where the loader is after the newest batch that the loop was given: in the loop's body, that
  /// batch counts as done. What workers have read ahead does not matter.
  LoaderState state() const { return core_.state(source_.loading().samples); }
  /// The next begin() goes on there, in mid-epoch too, on any number of ranks and with any batch
  /// size. What was taken of a stream is read again and left out. Throws ConfigError for a state of
  /// another order: other seed, number of samples, or shuffle.
  void load_state(const LoaderState& state) { core_.load_state(state, source_.loading().samples); }

  Dataset& dataset() const noexcept { return *source_.dataset; }
  const DataLoaderOptions& options() const noexcept { return core_.options(); }
  Shard shard() const noexcept { return core_.shard(); }

  /// The part of rank `index` of `count`, with batches on `device`; for Accelerator::prepare. May
  /// be called on its own result. Throws ConfigError, with both numbers, if split_batches cannot
  /// split over `count`.
  DataLoader sharded(int index, int count, std::shared_ptr<LoopState> loop, at::Device device,
                     std::int64_t default_seed) const {
    DataLoader result = *this;
    result.core_ = core_.sharded({index, count}, std::move(loop), device, default_seed);
    return result;
  }

  /// A copy whose next epoch, and only that one, begins after `batches` batches of this rank; they
  /// are not loaded. Throws ConfigError for fewer than 0.
  DataLoader skipping(std::int64_t batches) const {
    DataLoader result = *this;
    result.core_ = core_.skipping(batches);
    return result;
  }
  friend DataLoader skip_first_batches(const DataLoader& loader, std::int64_t batches) {
    return loader.skipping(batches);
  }

 private:
  Source source_;
  LoaderCore core_;
};

}  // namespace muster
