#include "data/index_stream.hpp"

#include <muster/error.hpp>

#include "data/batch_plan.hpp"
#include "data/sample_order.hpp"
#include "data/sampled_stream.hpp"

#include <string>
#include <utility>

namespace muster {
namespace {

class PlannedStream : public IndexStream {
 public:
  PlannedStream(SampleOrder order, BatchPlan plan, std::int64_t skip)
      : order_(std::move(order)), plan_(plan), next_(skip) {}

  std::optional<IndexBatch> next() override {
    if (next_ >= plan_.size()) return std::nullopt;
    const BatchSpan span = plan_[next_];
    IndexBatch batch{next_, {}, span.real_samples, next_ + 1 == plan_.size()};
    batch.indices.reserve(static_cast<std::size_t>(span.end - span.begin));
    for (std::int64_t position = span.begin; position < span.end; ++position) {
      batch.indices.push_back(order_[position % order_.size()]);
    }
    ++next_;
    return batch;
  }

 private:
  SampleOrder order_;
  BatchPlan plan_;
  std::int64_t next_;
};

SampleOrder sampled_order(std::int64_t samples, const DataLoaderOptions& options,
                          std::int64_t epoch) {
  std::vector<std::int64_t> indices = options.sampler(epoch);
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
  if (options.sampler) return sampled_order(samples, options, start.epoch);
  if (!options.shuffle) return SampleOrder::sequential(samples);
  return SampleOrder::shuffled(samples, static_cast<std::uint64_t>(start.seed + start.epoch));
}

void refuse(bool wrong, const std::string& what) {
  if (wrong) throw ConfigError("data loader: " + what);
}

}  // namespace

std::unique_ptr<IndexStream> open_stream(std::int64_t samples, const DataLoaderOptions& options,
                                         Shard shard, const StreamStart& start) {
  if (options.batch_sampler) return open_sampled_stream(samples, options, shard, start);
  SampleOrder order = order_of_epoch(samples, options, start);
  const BatchPlan plan(order.size(), options, shard);
  return std::make_unique<PlannedStream>(std::move(order), plan, start.skip);
}

std::int64_t stream_size(std::int64_t samples, const DataLoaderOptions& options, Shard shard,
                         std::int64_t epoch) {
  if (options.batch_sampler) {
    std::int64_t batches = 0;
    for (const auto sequence = options.batch_sampler.start(epoch); sequence();) ++batches;
    return shared_size(batches, options, shard);
  }
  if (options.sampler) samples = static_cast<std::int64_t>(options.sampler(epoch).size());
  return BatchPlan(samples, options, shard).size();
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
  refuse(options.num_workers < 0 || options.num_workers > 1024,
         "num_workers = " + std::to_string(options.num_workers) + ": expected 0 to 1024");
  refuse(options.prefetch < 0,
         "prefetch = " + std::to_string(options.prefetch) + ": expected 0 or more");
  refuse(options.prefetch > 0 && options.num_workers == 0,
         "prefetch = " + std::to_string(options.prefetch) + " needs num_workers = 1 or more");
  (void)BatchPlan(0, options, Shard{});
}

}  // namespace muster
