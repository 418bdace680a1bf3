#include "data/item_stream.hpp"

#include "data/batch_plan.hpp"
#include "data/load_error.hpp"
#include "data/load_stopped.hpp"
#include "data/rounds.hpp"

#include <utility>

namespace muster {
namespace {

/// Reads items, and says of an exception where it happened.
class Items {
 public:
  Items(const StreamLoading& stream, EpochStart start, Shard rank, std::int64_t batch,
        std::int64_t width, std::stop_token stop)
      : stream_(stream),
        start_(start),
        rank_(rank),
        batch_(batch),
        width_(width),
        stop_(std::move(stop)) {}

  std::optional<Unit> operator()() {
    if (stop_.stop_requested()) throw LoadStopped();
    Unit unit;
    try {
      // Not earlier: what opening throws is due when the first item is.
      if (!next_) next_ = stream_.open(start_, static_cast<std::size_t>(batch_));
      unit.item = next_();
      if (!unit.item) return std::nullopt;
      if (stream_.whole_batches) unit.samples = stream_.rows(unit.item);
    } catch (...) {
      IndexBatch batch;
      batch.number = number_ / width_;
      std::rethrow_exception(
          located(std::current_exception(), {batch, number_, start_.epoch, rank_}));
    }
    ++number_;
    return unit;
  }

 private:
  StreamLoading stream_;
  EpochStart start_;
  Shard rank_;  ///< For the text of errors.
  std::int64_t batch_, width_;
  std::stop_token stop_;
  ItemFunction next_;
  std::int64_t number_ = 0;
};

Unit copied(const StreamLoading& stream, const Unit& unit) {
  return {{}, stream.copy(unit.item), unit.samples};
}

}  // namespace

std::unique_ptr<IndexStream> open_item_stream(const StreamLoading& stream,
                                              const DataLoaderOptions& options, Shard shard,
                                              const StreamStart& start, std::stop_token stop) {
  const BatchPlan plan(0, options, shard);
  // Of data that is sharded already this rank takes all.
  const Shard part = options.sharded ? Shard{} : shard;
  const RoundRule rule{.ranks = part.count,
                       .batch = stream.whole_batches ? 1 : plan.batch(),
                       .complete = options.even_batches && !options.drop_last && part.count > 1,
                       .drop_last = options.drop_last,
                       .spread = options.dispatch && !stream.whole_batches};
  const std::int64_t width = rule.ranks * rule.batch;
  UnitReader reader{Items(stream, {start.seed, start.epoch, options.sharded ? shard : Shard{}},
                          shard, plan.batch(), width, std::move(stop)),
                    nullptr};
  if (stream.whole_batches) {
    reader.copy = [stream](const Unit& unit) { return copied(stream, unit); };
  }
  return take_parts(Rounds(std::move(reader), rule, start.position + start.skip * width),
                    options.dispatch ? -1 : part.index);
}

}  // namespace muster
