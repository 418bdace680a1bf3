#include <muster/control.hpp>
#include <muster/error.hpp>
#include <muster/loader_core.hpp>
#include <muster/time_spent.hpp>

#include "data/batch_plan.hpp"
#include "data/dispatch/dispatch_channel.hpp"
#include "data/local_feed.hpp"

#include <string>
#include <utility>

namespace muster {

LoaderRun::LoaderRun(std::unique_ptr<BatchFeed> feed, std::shared_ptr<LoopState> loop,
                     std::shared_ptr<LoaderProgress> progress)
    : feed_(std::move(feed)),
      loop_(std::move(loop)),
      progress_(std::move(progress)),
      epoch_(progress_->current) {
  if (loop_) loop_->enter(this);
}

LoaderRun::~LoaderRun() {
  if (loop_) loop_->leave(this);
}

std::shared_ptr<void> LoaderRun::next() {
  const SpendingTime waiting(&TimeSpent::data);
  std::optional<LoadedBatch> loaded = feed_->next();
  if (!loaded) {
    moved_to(true, 0);
    return nullptr;
  }
  Control::instance().active();
  moved_to(loaded->last, loaded->position);
  if (loop_) loop_->update(this, loaded->last, loaded->real_samples, loaded->samples);
  return std::move(loaded->batch);
}

void LoaderRun::moved_to(bool end, std::int64_t position) {
  if (progress_->current != epoch_) return;  // Another run has begun since.
  progress_->epoch = end ? epoch_ + 1 : epoch_;
  progress_->position = end ? 0 : position;
}

LoaderCore::LoaderCore(DataLoaderOptions options, bool is_stream)
    : options_(std::move(options)), progress_(std::make_shared<LoaderProgress>()) {
  check_options(options_);
  if (is_stream) check_stream_options(options_);
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
  if (options_.dispatch && shard.count > 1 &&
      !(channel_ && shard_ == shard && loop_ == result.loop_)) {
    result.channel_ = open_channel(result.loop_.get());
  }
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

DataLoaderOptions LoaderCore::options_of_run() const {
  DataLoaderOptions options = options_;
  if (loop_ && loop_->even_batches) options.even_batches = *loop_->even_batches;
  if (options.sharded && options.split_batches) {
    options.batch_size /= shard_.count;
    options.split_batches = false;
  }
  return options;
}

std::unique_ptr<LoaderRun> LoaderCore::start(const Loading& loading) {
  const std::int64_t epoch = progress_->next;
  const StreamStart start{seed(), epoch, skip_, progress_->resume};
  const DataLoaderOptions options = options_of_run();
  auto feed = channel_ ? channel_->open(loading, options, start)
                       : open_feed(loading, options, shard_, start);
  *progress_ = {epoch, epoch + 1, 0, epoch, progress_->resume};
  skip_ = 0;
  return std::make_unique<LoaderRun>(std::move(feed), loop_, progress_);
}

std::int64_t LoaderCore::size(std::optional<std::int64_t> samples) const {
  if (!samples) {
    throw ConfigError("data loader: a stream's number of batches is not known before its end");
  }
  const StreamStart start{seed(), progress_->next, skip_, progress_->resume};
  return stream_size(*samples, options_of_run(), part(), start);
}

LoaderState LoaderCore::state(std::optional<std::int64_t> samples) const {
  return {progress_->epoch, progress_->position, seed(), samples.value_or(-1), options_.shuffle};
}

void LoaderCore::load_state(const LoaderState& state, std::optional<std::int64_t> samples) {
  LoaderState own = this->state(samples);
  own.epoch = state.epoch;
  own.position = state.position;
  if (state.epoch < 0 || state.position < 0 || own != state) {
    throw ConfigError("data loader: the state '" + state.to_text() +
                      "' belongs to another order of data; this loader's would be '" +
                      own.to_text() + "'");
  }
  *progress_ = {state.epoch, state.epoch, state.position, state.epoch, state.position};
}

std::int64_t LoaderCore::total_batch_size() const noexcept {
  return options_.split_batches ? options_.batch_size : options_.batch_size * shard_.count;
}

void LoaderCore::set_epoch(std::int64_t epoch) {
  if (epoch < 0) {
    throw ConfigError("data loader: epoch " + std::to_string(epoch) + ": expected 0 or more");
  }
  // Of a state that was loaded and is to go on in this epoch, the position stays.
  if (epoch == progress_->next && progress_->resume > 0) return;
  *progress_ = {epoch, epoch, 0, epoch, 0};
}

}  // namespace muster
