#include "data/sampled_stream.hpp"

#include <muster/error.hpp>

#include <exception>
#include <string>
#include <utility>

namespace muster {
namespace {

using Batch = BatchSampler::Batch;

/// One batch for each rank, and how many of their samples are no repetitions.
struct Round {
  std::vector<Batch> batches;  ///< At most one a rank; rank r's is the r-th.
  std::int64_t real_samples = -1;
};

class SampledStream : public IndexStream {
 public:
  SampledStream(std::int64_t samples, const DataLoaderOptions& options, Shard shard,
                const StreamStart& start)
      : sequence_(options.batch_sampler.start(start.epoch)),
        samples_(samples),
        complete_(options.even_batches && shard.count > 1),
        drop_last_(options.drop_last),
        shard_(shard) {
    ahead_ = own_batch();
    for (std::int64_t i = 0; i < start.skip && ahead_; ++i) advance();
  }

  std::optional<IndexBatch> next() override {
    if (failure_) std::rethrow_exception(failure_);
    if (!ahead_) return std::nullopt;
    IndexBatch batch = advance();
    batch.last = !ahead_ && !failure_;
    return batch;
  }

 private:
  /// The batch that was read ahead. One more is read, to know whether it was the last; what that
  /// throws is due in its turn.
  IndexBatch advance() {
    IndexBatch batch = std::move(*ahead_);
    ahead_.reset();
    try {
      ahead_ = own_batch();
    } catch (...) {
      failure_ = std::current_exception();
    }
    return batch;
  }

  std::optional<IndexBatch> own_batch() {
    Round round = next_round();
    const auto own = static_cast<std::size_t>(shard_.index);
    if (own >= round.batches.size()) return std::nullopt;
    return IndexBatch{rounds_++, std::move(round.batches[own]), round.real_samples, false};
  }

  Round next_round() {
    const auto width = static_cast<std::size_t>(shard_.count);
    Round round;
    std::int64_t real = 0;
    while (round.batches.size() < width) {
      std::optional<Batch> batch = checked_batch();
      if (!batch) break;
      real += static_cast<std::int64_t>(batch->size());
      if (complete_ && first_.size() < width) first_.push_back(*batch);
      round.batches.push_back(std::move(*batch));
    }
    const bool short_round = !round.batches.empty() && round.batches.size() < width;
    if (short_round && drop_last_) round.batches.clear();
    if (short_round && complete_ && !drop_last_) {
      round.real_samples = real;
      for (std::size_t i = 0; round.batches.size() < width; ++i) {
        round.batches.push_back(first_[i % first_.size()]);
      }
    }
    return round;
  }

  std::optional<Batch> checked_batch() {
    if (ended_) return std::nullopt;
    std::optional<Batch> batch = sequence_();
    ended_ = !batch;
    if (ended_) return std::nullopt;
    const std::string place =
        "data loader: batch " + std::to_string(number_++) + " of the batch_sampler ";
    if (batch->empty()) throw ConfigError(place + "is empty: leave it out");
    for (const std::int64_t index : *batch) {
      if (index >= 0 && index < samples_) continue;
      throw ConfigError(place + "has index " + std::to_string(index) + ", which is not in [0, " +
                        std::to_string(samples_) + ")");
    }
    return batch;
  }

  BatchSampler::Sequence sequence_;
  std::int64_t samples_;
  bool complete_, drop_last_;
  Shard shard_;
  std::vector<Batch> first_;  ///< Of the first round, to complete the last.
  std::int64_t rounds_ = 0, number_ = 0;
  bool ended_ = false;  ///< A sequence that has ended is not called again.
  std::optional<IndexBatch> ahead_;
  std::exception_ptr failure_;  ///< Of the batch after those that were given out.
};

}  // namespace

std::unique_ptr<IndexStream> open_sampled_stream(std::int64_t samples,
                                                 const DataLoaderOptions& options, Shard shard,
                                                 const StreamStart& start) {
  return std::make_unique<SampledStream>(samples, options, shard, start);
}

}  // namespace muster
