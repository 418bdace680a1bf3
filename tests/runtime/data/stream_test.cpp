#include <muster/data_loader.hpp>
#include <muster/error.hpp>

#include "list_dataset.hpp"

#include <ATen/Functions.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <torch/data.h>

#include <atomic>
#include <thread>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Lists = std::vector<std::vector<std::int64_t>>;

at::Tensor id(std::int64_t value) { return at::scalar_tensor(value, at::TensorOptions(at::kLong)); }

/// Starts epochs of the ids 0, 1, ...; sample `bad` throws.
auto ids(std::int64_t samples, std::int64_t bad = -1) {
  return [samples, bad](const EpochStart&) {
    return [samples, bad, next = std::int64_t{0}]() mutable -> std::optional<at::Tensor> {
      if (next == bad) throw std::out_of_range("bad-" + std::to_string(bad));
      if (next == samples) return std::nullopt;
      return id(next++);
    };
  };
}

/// An object that is read from front to end, again after reset().
struct Counter {
  std::int64_t samples;
  std::int64_t at = 0;

  void reset() { at = 0; }
  std::optional<Example<>> next() {
    if (at == samples) return std::nullopt;
    const std::int64_t now = at++;
    return Example<>{at::full({2}, now), id(now)};
  }
};

/// Gives batches of 2, 1, 2, 1, ... ids.
struct Batches {
  std::int64_t batches;
  std::int64_t at = 0, sample = 0;

  void reset(const EpochStart&) { at = sample = 0; }
  std::optional<at::Tensor> next_batch() {
    if (at == batches) return std::nullopt;
    const std::int64_t length = at++ % 2 == 0 ? 2 : 1;
    sample += length;
    return at::arange(sample - length, sample, at::TensorOptions(at::kLong));
  }
};

/// As torch's data sets that keep their place.
class Stateful : public torch::data::datasets::StatefulDataset<Stateful> {
 public:
  explicit Stateful(std::int64_t samples) : samples_(samples) {}
  std::optional<std::vector<torch::data::Example<>>> get_batch(size_t size) override {
    if (at_ == samples_) return std::nullopt;
    std::vector<torch::data::Example<>> examples;
    while (examples.size() < size && at_ < samples_) {
      examples.emplace_back(at::full({1}, at_), id(at_));
      ++at_;
    }
    return examples;
  }
  std::optional<size_t> size() const override { return std::nullopt; }
  void reset() override { at_ = 0; }
  void save(torch::serialize::OutputArchive&) const override {}
  void load(torch::serialize::InputArchive&) override {}

 private:
  std::int64_t samples_;
  std::int64_t at_ = 0;
};

template <class Loader>
Lists targets_of(Loader& loader) {
  Lists lists;
  for (auto& batch : loader) lists.push_back(ids_of(batch.target));
  return lists;
}

}  // namespace

TEST_CASE("a function that starts epochs is a stream") {
  for (const int workers : {0, 1, 3}) {
    CAPTURE(workers);
    DataLoader loader(ids(7), {.batch_size = 3, .num_workers = workers});
    CHECK((epoch_of(loader) == Lists{{0, 1, 2}, {3, 4, 5}, {6}}));
    CHECK(loader.epoch() == 0);
    CHECK((epoch_of(loader) == Lists{{0, 1, 2}, {3, 4, 5}, {6}}));
    CHECK(loader.epoch() == 1);
    auto part = loader.sharded(1, 2, nullptr, at::kCPU, 42);
    CHECK((epoch_of(part) == Lists{{3, 4, 5}, {2, 3, 4}}));
    CHECK_THROWS_WITH(loader.size(), ContainsSubstring("not known"));
  }
}

TEST_CASE("a stream is told of seed, epoch and shard") {
  std::vector<EpochStart> starts;
  DataLoader loader(
      [&](const EpochStart& start) {
        starts.push_back(start);
        return [] { return std::optional<at::Tensor>(); };
      },
      {.seed = 7, .sharded = true});
  auto part = loader.sharded(1, 3, nullptr, at::kCPU, 42);
  part.set_epoch(5);
  CHECK(epoch_of(part).empty());
  REQUIRE(starts.size() == 1);
  CHECK(starts[0].seed == 7);
  CHECK(starts[0].epoch == 5);
  CHECK((starts[0].shard == Shard{1, 3}));
}

TEST_CASE("a stream that is dealt out sample by sample is to give all of its data") {
  std::vector<EpochStart> starts;
  DataLoader loader([&](const EpochStart& start) {
    starts.push_back(start);
    return [] { return std::optional<at::Tensor>(); };
  });
  auto part = loader.sharded(1, 3, nullptr, at::kCPU, 42);
  CHECK(epoch_of(part).empty());
  REQUIRE(starts.size() == 1);
  CHECK((starts[0].shard == Shard{0, 1}));
}

TEST_CASE("an object with next() is a stream, and starts again") {
  auto loader = DataLoader(Counter{9}, {.batch_size = 2}).sharded(0, 2, nullptr, at::kCPU, 42);
  CHECK((targets_of(loader) == Lists{{0, 1}, {4, 5}, {8, 0}}));
  CHECK((targets_of(loader) == Lists{{0, 1}, {4, 5}, {8, 0}}));
  auto dropping = DataLoader(Counter{9}, {.batch_size = 2, .drop_last = true})
                      .sharded(1, 2, nullptr, at::kCPU, 42);
  CHECK((targets_of(dropping) == Lists{{2, 3}, {6, 7}}));
  auto split = DataLoader(Counter{9}, {.batch_size = 4, .split_batches = true})
                   .sharded(1, 2, nullptr, at::kCPU, 42);
  CHECK((targets_of(split) == Lists{{2, 3}, {6, 7}, {1, 2}}));
}

TEST_CASE("whole batches are dealt to the ranks, and repeated rows counted") {
  const auto loop = std::make_shared<LoopState>();
  auto loader = DataLoader(Batches{3}, {}).sharded(1, 2, loop, at::kCPU, 42);
  std::vector<std::int64_t> real, here;
  Lists seen;
  for (auto& batch : loader) {
    seen.push_back(ids_of(batch));
    batch.fill_(-1);  // A repeated batch is not the same memory.
    real.push_back(loop->real_samples());
    here.push_back(loop->samples());
  }
  CHECK((seen == Lists{{2}, {0, 1}}));
  CHECK((real == std::vector<std::int64_t>{-1, 2}));
  CHECK((here == std::vector<std::int64_t>{1, 2}));
  auto first = DataLoader(Batches{3}, {}).sharded(0, 2, loop, at::kCPU, 42);
  CHECK((epoch_of(first) == Lists{{0, 1}, {3, 4}}));
  auto alone = DataLoader(Batches{3}, {}).sharded(0, 4, loop, at::kCPU, 42);
  Lists repeated;
  for (auto& batch : DataLoader(Batches{1}, {}).sharded(2, 3, loop, at::kCPU, 42)) {
    repeated.push_back(ids_of(batch));
  }
  CHECK((repeated == Lists{{0, 1}}));
}

TEST_CASE("torch's data sets that keep their place are streams, also mapped") {
  auto loader = DataLoader(Stateful(7), {.batch_size = 2}).sharded(1, 2, nullptr, at::kCPU, 42);
  CHECK((targets_of(loader) == Lists{{2, 3}, {6, 0}}));
  CHECK((targets_of(loader) == Lists{{2, 3}, {6, 0}}));
  DataLoader stacked(Stateful(5).map(torch::data::transforms::Stack<>()), {.batch_size = 2});
  CHECK((targets_of(stacked) == Lists{{0, 1}, {2, 3}, {4}}));
  CHECK((targets_of(stacked) == Lists{{0, 1}, {2, 3}, {4}}));
}

TEST_CASE("data that is sharded already is taken whole") {
  const auto own = [](const EpochStart& start) {
    return [next = std::int64_t{start.shard.index},
            count = start.shard.count]() mutable -> std::optional<at::Tensor> {
      if (next >= 9) return std::nullopt;
      return id(std::exchange(next, next + count));
    };
  };
  std::vector<std::int64_t> seen;
  for (int rank = 0; rank < 3; ++rank) {
    auto loader =
        DataLoader(own, {.batch_size = 2, .sharded = true}).sharded(rank, 3, nullptr, at::kCPU, 42);
    for (const auto& batch : epoch_of(loader)) seen.insert(seen.end(), batch.begin(), batch.end());
  }
  CHECK((seen == std::vector<std::int64_t>{0, 3, 6, 1, 4, 7, 2, 5, 8}));
  auto indexed = DataLoader(IdDataset{5}, {.batch_size = 4, .split_batches = true, .sharded = true})
                     .sharded(1, 2, nullptr, at::kCPU, 42);
  CHECK(indexed.size() == 3);
  CHECK((epoch_of(indexed) == Lists{{0, 1}, {2, 3}, {4}}));
}

TEST_CASE("a failing stream is named by rank, batch and sample, after the batches before") {
  for (const int workers : {0, 1, 2}) {
    CAPTURE(workers);
    auto loader = DataLoader(ids(20, 17), {.batch_size = 2, .num_workers = workers})
                      .sharded(1, 2, nullptr, at::kCPU, 42);
    Lists seen;
    const auto run = [&] {
      for (auto& batch : loader) seen.push_back(ids_of(batch));
    };
    CHECK_THROWS_WITH(run(), "data loader, rank 1, epoch 0, batch 4, sample 17: bad-17");
    CHECK((seen == Lists{{2, 3}, {6, 7}, {10, 11}, {14, 15}}));
  }
}

TEST_CASE("a stream is read by one thread at a time, no further ahead than prefetch") {
  std::atomic<int> inside = 0, most = 0, read = 0;
  DataLoader loader(
      [&](const EpochStart&) {
        return [&]() -> std::optional<at::Tensor> {
          most = std::max(most.load(), ++inside);
          std::this_thread::sleep_for(std::chrono::microseconds(200));
          --inside;
          return id(read++);
        };
      },
      {.batch_size = 2, .num_workers = 4, .prefetch = 3});
  std::int64_t next = 0;
  for (auto& batch : loader) {
    CHECK((ids_of(batch) == std::vector<std::int64_t>{next, next + 1}));
    next += 2;
    // One round beyond, to know the last.
    CHECK(read <= 2 * (next / 2 + 3 + 1));
    if (next == 40) break;  // An endless stream is left like any other.
  }
  CHECK(most == 1);
}

TEST_CASE("what a stream cannot do is refused at once") {
  CHECK_THROWS_WITH(DataLoader(ids(4), {.shuffle = true}), ContainsSubstring("own order"));
  CHECK_THROWS_AS(DataLoader(ids(4), {.batch_size = 0}), ConfigError);
  CHECK_THROWS_AS(DataLoader(ids(4), {.sharded = true, .dispatch = true}), ConfigError);
  auto loader = DataLoader(ids(4), {.batch_size = 3, .split_batches = true});
  CHECK_THROWS_AS(loader.sharded(0, 2, nullptr, at::kCPU, 42), ConfigError);
}

}  // namespace muster::test
