// What the ranks read together is the data set, each sample once, in the order of one process.

#include <muster/accelerator.hpp>
#include <muster/data_loader.hpp>

#include "check/checks.hpp"
#include "check/numbered_data.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

namespace muster::check {
namespace {

using Samples = std::vector<std::int64_t>;

/// A way to read, and what may be expected of it.
struct Way {
  const char* name;
  DataLoaderOptions options;
};

std::vector<Way> ways(int ranks) {
  return {
      {"in order", {.batch_size = 8}},
      {"shuffled", {.batch_size = 8, .shuffle = true, .seed = 17}},
      {"shuffled, two workers", {.batch_size = 5, .shuffle = true, .num_workers = 2, .seed = 5}},
      {"drop_last", {.batch_size = 8, .shuffle = true, .drop_last = true, .seed = 17}},
      {"without even_batches", {.batch_size = 8, .even_batches = false}},
      {"split_batches", {.batch_size = 8L * ranks, .split_batches = true}},
  };
}

/// All samples of the next epoch, as one process reads them.
Samples order_of_one_process(const Way& way, std::int64_t epoch) {
  DataLoader<NumberedData> loader(
      NumberedData{}, {.batch_size = 8, .shuffle = way.options.shuffle, .seed = way.options.seed});
  loader.set_epoch(epoch);
  Samples order;
  for (const auto& batch : loader) append(order, batch);
  return order;
}

/// What rank `rank` of `ranks` has to read: the ranks take turns, a batch each.
Samples part_of(const Samples& order, const Way& way, int rank, int ranks) {
  const auto batch =
      way.options.split_batches ? way.options.batch_size / ranks : way.options.batch_size;
  const auto round = batch * ranks;
  const auto count = std::ssize(order);
  const bool completes = ranks > 1 && way.options.even_batches && !way.options.drop_last;
  Samples part;
  for (std::int64_t begin = 0; begin < count; begin += round) {
    if (way.options.drop_last && begin + round > count) break;
    for (std::int64_t i = 0; i < batch; ++i) {
      const auto place = begin + rank * batch + i;
      if (place >= count && !completes) break;
      part.push_back(order[static_cast<std::size_t>(place % count)]);
    }
  }
  return part;
}

std::string text_of(const Samples& samples, std::size_t place) {
  return place < samples.size() ? "sample " + std::to_string(samples[place]) : "the end";
}

void compare(Bench& bench, const std::string& where, const Samples& expected,
             const Samples& found) {
  if (expected == found) return;
  const auto both = std::min(expected.size(), found.size());
  std::size_t place = 0;
  while (place < both && expected[place] == found[place]) ++place;
  bench.fault(where + ", place " + std::to_string(place), text_of(expected, place),
              text_of(found, place));
}

struct Epoch {
  const Way& way;
  std::string where;  ///< For faults.
  Samples order;      ///< Of one process.
  Samples own;        ///< What this rank has read.
};

/// Collective: what all ranks have read, each sample as often as it has to be.
void check_together(Bench& bench, const Accelerator& accelerator, const Epoch& epoch) {
  const auto& [way, where, order, own] = epoch;
  auto mine = at::empty({std::ssize(own)}, at::kLong);
  std::copy(own.begin(), own.end(), mine.mutable_data_ptr<std::int64_t>());
  mine = mine.to(accelerator.device());
  const auto gathered = accelerator.gather(accelerator.pad_across_processes(mine, 0, -1));
  std::map<std::int64_t, int> times, expected;
  Samples read;
  append(read, gathered);
  for (const auto sample : read) ++times[sample];
  times.erase(-1);
  for (int rank = 0; rank < accelerator.num_processes(); ++rank) {
    for (const auto sample : part_of(order, way, rank, accelerator.num_processes())) {
      ++expected[sample];
    }
  }
  for (const auto sample : order) {
    if (times[sample] == expected[sample]) continue;
    bench.fault(where + ", sample " + std::to_string(sample) + " on all ranks",
                "read " + std::to_string(expected[sample]) + " times",
                "read " + std::to_string(times[sample]) + " times");
  }
}

void check_way(Bench& bench, Accelerator& accelerator, const Way& way) {
  auto loader = accelerator.prepare(DataLoader<NumberedData>(NumberedData{}, way.options));
  for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
    const auto where = std::string(way.name) + ", epoch " + std::to_string(epoch);
    const auto order = order_of_one_process(way, epoch);
    auto sorted = order;
    std::sort(sorted.begin(), sorted.end());
    Samples numbered(static_cast<std::size_t>(NumberedData::samples));
    std::iota(numbered.begin(), numbered.end(), std::int64_t{0});
    compare(bench, where + ", all samples of one process", numbered, sorted);

    Samples own;
    for (const auto& batch : loader) append(own, batch);
    compare(bench, where,
            part_of(order, way, accelerator.process_index(), accelerator.num_processes()), own);
    check_together(bench, accelerator, {way, where, order, own});
  }
}

}  // namespace

void check_data(Bench& bench) {
  Accelerator accelerator(bench.options());
  const auto list = ways(accelerator.num_processes());
  for (const auto& way : list) check_way(bench, accelerator, way);
  bench.looked_at(std::to_string(NumberedData::samples) + " samples once, in order; " +
                  std::to_string(list.size()) + " ways");
}

}  // namespace muster::check
