#include <muster/control.hpp>
#include <muster/error.hpp>
#include <muster/loader_core.hpp>

#include "data/batch_plan.hpp"
#include "data/batch_reader.hpp"

#include <string>
#include <utility>

namespace muster {

LoaderRun::LoaderRun(std::unique_ptr<BatchReader> reader, std::shared_ptr<LoopState> loop)
    : reader_(std::move(reader)), loop_(std::move(loop)) {
  if (loop_) loop_->enter(this);
}

LoaderRun::~LoaderRun() {
  if (loop_) loop_->leave(this);
}

std::shared_ptr<void> LoaderRun::next() {
  std::optional<LoadedBatch> loaded = reader_->next();
  if (!loaded) return nullptr;
  Control::instance().active();
  if (loop_) loop_->update(this, loaded->last, loaded->real_samples, loaded->samples);
  return std::move(loaded->batch);
}

LoaderCore::LoaderCore(DataLoaderOptions options)
    : options_(std::move(options)), epochs_(std::make_shared<Epochs>()) {
  check_options(options_);
}

LoaderCore LoaderCore::sharded(Shard shard, std::shared_ptr<LoopState> loop, at::Device device,
                               std::int64_t default_seed) const {
  if (shard.count < 1 || shard.index < 0 || shard.index >= shard.count) {
    throw ConfigError("data loader: shard " + std::to_string(shard.index) + " of " +
                      std::to_string(shard.count) + ": expected an index in [0, count)");
  }
  (void)BatchPlan(0, options_, shard);
  LoaderCore result = *this;
  result.shard_ = shard;
  result.loop_ = std::move(loop);
  result.device_ = device;
  result.default_seed_ = default_seed;
  return result;
}

LoaderCore LoaderCore::skipping(std::int64_t batches) const {
  if (batches < 0) {
    throw ConfigError("skip_first_batches: " + std::to_string(batches) +
                      " batches: expected 0 or more");
  }
  LoaderCore result = *this;
  result.skip_ += batches;
  return result;
}

std::unique_ptr<LoaderRun> LoaderCore::start(std::int64_t samples, LoadFunction load) {
  const std::int64_t epoch = epochs_->next;
  const std::int64_t seed = options_.seed.value_or(default_seed_);
  auto stream = open_stream(samples, options_, shard_, {seed, epoch, skip_});
  auto reader = std::make_unique<BatchReader>(
      std::move(stream), std::move(load),
      ReaderOptions{options_.num_workers, options_.prefetch, seed, epoch, shard_});
  epochs_->current = epoch;
  epochs_->next = epoch + 1;
  skip_ = 0;
  return std::make_unique<LoaderRun>(std::move(reader), loop_);
}

std::int64_t LoaderCore::size(std::int64_t samples) const {
  const std::int64_t batches = stream_size(samples, options_, shard_, epochs_->next);
  return batches > skip_ ? batches - skip_ : 0;
}

std::int64_t LoaderCore::total_batch_size() const noexcept {
  return options_.split_batches ? options_.batch_size : options_.batch_size * shard_.count;
}

void LoaderCore::set_epoch(std::int64_t epoch) {
  if (epoch < 0) {
    throw ConfigError("data loader: epoch " + std::to_string(epoch) + ": expected 0 or more");
  }
  *epochs_ = {epoch, epoch};
}

}  // namespace muster
