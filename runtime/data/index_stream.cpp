#include "data/index_stream.hpp"

#include <muster/error.hpp>

#include "data/batch_plan.hpp"
#include "data/rounds.hpp"
#include "data/sample_order.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace muster {
namespace {

class PlannedStream : public IndexStream {
 public:
  PlannedStream(SampleOrder order, BatchPlan plan, std::int64_t number)
      : order_(std::move(order)), plan_(plan), number_(number) {}

  std::optional<IndexBatch> next() override {
    if (next_ >= plan_.size()) return std::nullopt;
    const BatchSpan span = plan_[next_];
    IndexBatch batch;
    batch.number = number_ + next_;
    batch.real_samples = span.real_samples;
    batch.last = next_ + 1 == plan_.size();
    batch.samples = span.end - span.begin;
    batch.position = span.next;
    batch.indices.reserve(static_cast<std::size_t>(batch.samples));
    for (std::int64_t position = span.begin; position < span.end; ++position) {
      batch.indices.push_back(order_[position % order_.size()]);
    }
    ++next_;
    return batch;
  }

 private:
  SampleOrder order_;
  BatchPlan plan_;
  std::int64_t number_;  ///< Of the first batch.
  std::int64_t next_ = 0;
};

SampleOrder sampled_order(std::int64_t samples, const DataLoaderOptions& options,
                          const StreamStart& start) {
  std::vector<std::int64_t> indices = options.sampler.order(start.epoch, start.seed);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= 0 && indices[i] < samples) continue;
    throw ConfigError("data loader: index " + std::to_string(indices[i]) + " at position " +
                      std::to_string(i) + " of the sampler is not in [0, " +
                      std::to_string(samples) + ")");
  }
  return SampleOrder::listed(std::move(indices));
}

SampleOrder order_of_epoch(std::int64_t samples, const DataLoaderOptions& options,
                           const StreamStart& start) {
  if (options.sampler) return sampled_order(samples, options, start);
  if (!options.shuffle) return SampleOrder::sequential(samples);
  return SampleOrder::shuffled(samples, static_cast<std::uint64_t>(start.seed + start.epoch));
}

void check_batch(const BatchSampler::Batch& batch, std::int64_t samples, std::int64_t number) {
  const std::string place =
      "data loader: batch " + std::to_string(number) + " of the batch_sampler ";
  if (batch.empty()) throw ConfigError(place + "is empty: leave it out");
  for (const std::int64_t index : batch) {
    if (index >= 0 && index < samples) continue;
    throw ConfigError(place + "has index " + std::to_string(index) + ", which is not in [0, " +
                      std::to_string(samples) + ")");
  }
}

/// The samples of an order, one by one.
UnitReader samples_of(SampleOrder order) {
  return {[order = std::move(order), next = std::int64_t{0}]() mutable -> std::optional<Unit> {
            if (next == order.size()) return std::nullopt;
            return Unit{{order[next++]}, nullptr, 1};
          },
          nullptr};
}

/// The batches of a user's batch sampler.
UnitReader batches_of(BatchSampler::Sequence sequence, std::int64_t samples) {
  return {[sequence = std::move(sequence), samples,
           number = std::int64_t{0}]() mutable -> std::optional<Unit> {
            std::optional<BatchSampler::Batch> batch = sequence();
            if (!batch) return std::nullopt;
            check_batch(*batch, samples, number++);
            const auto length = std::ssize(*batch);
            return Unit{std::move(*batch), nullptr, length};
          },
          nullptr};
}

void refuse(bool wrong, const std::string& what) {
  if (wrong) throw ConfigError("data loader: " + what);
}

}  // namespace

RoundRule batch_rule(const DataLoaderOptions& options, int ranks) {
  return {.ranks = ranks,
          .batch = 1,
          .complete = options.even_batches && !options.drop_last && ranks > 1,
          .drop_last = options.drop_last};
}

std::unique_ptr<IndexStream> open_stream(std::int64_t samples, const DataLoaderOptions& options,
                                         Shard shard, const StreamStart& start) {
  if (options.batch_sampler) {
    return take_parts(
        Rounds(batches_of(options.batch_sampler.start(start.epoch), samples),
               batch_rule(options, shard.count), start.position + start.skip * shard.count),
        shard.index);
  }
  SampleOrder order = order_of_epoch(samples, options, start);
  const std::int64_t width = BatchPlan(0, options, shard).width();
  const std::int64_t position = start.position + start.skip * width;
  const BatchPlan plan(order.size(), options, shard, position);
  return std::make_unique<PlannedStream>(std::move(order), plan, position / width);
}

std::unique_ptr<IndexStream> open_dispatch(std::int64_t samples, const DataLoaderOptions& options,
                                           int ranks, const StreamStart& start) {
  RoundRule rule = batch_rule(options, ranks);
  if (options.batch_sampler) {
    return take_parts(Rounds(batches_of(options.batch_sampler.start(start.epoch), samples), rule,
                             start.position + start.skip * ranks),
                      -1);
  }
  rule.batch = BatchPlan(0, options, {0, ranks}).batch();
  rule.spread = true;
  return take_parts(Rounds(samples_of(order_of_epoch(samples, options, start)), rule,
                           start.position + start.skip * ranks * rule.batch),
                    -1);
}

std::int64_t stream_size(std::int64_t samples, const DataLoaderOptions& options, Shard shard,
                         const StreamStart& start) {
  if (options.batch_sampler) {
    std::int64_t batches = 0;
    for (const auto sequence = options.batch_sampler.start(start.epoch); sequence();) ++batches;
    batches = std::max<std::int64_t>(0, batches - start.position - start.skip * shard.count);
    return shared_size(batches, options, shard);
  }
  if (options.sampler) {
    samples = static_cast<std::int64_t>(options.sampler.order(start.epoch, start.seed).size());
  }
  const std::int64_t width = BatchPlan(0, options, shard).width();
  return BatchPlan(samples, options, shard, start.position + start.skip * width).size();
}

void check_options(const DataLoaderOptions& options) {
  refuse(options.shuffle && options.sampler, "shuffle and sampler both give the order: choose one");
  if (options.batch_sampler) {
    refuse(options.shuffle || options.sampler,
           "batch_sampler gives the order itself: leave out shuffle and sampler");
    refuse(options.batch_size != 1, "batch_sampler gives the sizes itself: leave out batch_size");
    refuse(options.split_batches,
           "the batches of a batch_sampler cannot be split: leave out split_batches");
  }
  refuse(
      options.sharded && options.dispatch,
      "sharded says that each rank reads its own, and dispatch that rank 0 reads for all: choose "
      "one");
  refuse(options.num_workers < 0 || options.num_workers > 1024,
         "num_workers = " + std::to_string(options.num_workers) + ": expected 0 to 1024");
  refuse(options.prefetch < 0,
         "prefetch = " + std::to_string(options.prefetch) + ": expected 0 or more");
  refuse(options.prefetch > 0 && options.num_workers == 0 && !options.dispatch,
         "prefetch = " + std::to_string(options.prefetch) + " needs num_workers = 1 or more");
  (void)BatchPlan(0, options, Shard{});
}

void check_stream_options(const DataLoaderOptions& options) {
  refuse(options.shuffle || options.sampler || options.batch_sampler,
         "a stream is read in its own order: leave out shuffle, sampler and batch_sampler");
}

}  // namespace muster
