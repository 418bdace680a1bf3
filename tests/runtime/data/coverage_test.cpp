#include <muster/error.hpp>

#include "streams.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <numeric>
#include <random>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;

using Epoch = std::vector<std::vector<IndexBatch>>;  ///< [rank][batch]

Epoch epoch_of(std::int64_t samples, const DataLoaderOptions& options, int world) {
  Epoch epoch;
  for (int rank = 0; rank < world; ++rank)
    epoch.push_back(collect(samples, options, {rank, world}));
  return epoch;
}

/// What a program gathers: every round's batches in rank order, cut to the real samples.
std::vector<std::int64_t> gathered(const Epoch& epoch) {
  std::vector<std::int64_t> all;
  for (std::size_t round = 0; round < epoch.front().size(); ++round) {
    std::vector<std::int64_t> indices;
    for (const auto& rank : epoch) {
      if (round >= rank.size()) continue;
      indices.insert(indices.end(), rank[round].indices.begin(), rank[round].indices.end());
    }
    const std::int64_t real = epoch.front()[round].real_samples;
    if (real >= 0) indices.resize(static_cast<std::size_t>(real));
    all.insert(all.end(), indices.begin(), indices.end());
  }
  return all;
}

std::vector<std::int64_t> first_integers(std::int64_t count) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Runs `check(samples, world, batch)` for all that tend to go wrong.
template <class Check>
void for_all_sizes(Check check) {
  for (const std::int64_t samples : {0, 1, 2, 7, 8, 9, 97, 98, 99, 100, 512}) {
    for (const int world : {1, 2, 3, 4}) {
      for (const std::int64_t batch : {1, 4, 16}) {
        CAPTURE(samples, world, batch);
        check(samples, world, batch);
      }
    }
  }
}

void check_well_formed(const Epoch& epoch) {
  for (const auto& rank : epoch) {
    for (const IndexBatch& batch : rank) {
      REQUIRE_FALSE(batch.indices.empty());
      REQUIRE(batch.last == (&batch == &rank.back()));
      REQUIRE(batch.number == &batch - rank.data());
    }
  }
}

}  // namespace

TEST_CASE("every sample is counted once, and all ranks have equally many batches") {
  for_all_sizes([](std::int64_t samples, int world, std::int64_t batch) {
    const Epoch epoch = epoch_of(samples, {.batch_size = batch}, world);
    check_well_formed(epoch);
    REQUIRE(gathered(epoch) == first_integers(samples));
    for (const auto& rank : epoch) REQUIRE(rank.size() == epoch.front().size());
    for (std::size_t round = 0; round < epoch.front().size(); ++round) {
      for (const auto& rank : epoch) {
        REQUIRE(rank[round].real_samples == epoch.front()[round].real_samples);
        REQUIRE(rank[round].indices.size() == epoch.front()[round].indices.size());
      }
    }
  });
}

TEST_CASE("without even batches no sample is repeated") {
  for_all_sizes([](std::int64_t samples, int world, std::int64_t batch) {
    const Epoch epoch = epoch_of(samples, {.batch_size = batch, .even_batches = false}, world);
    check_well_formed(epoch);
    REQUIRE(gathered(epoch) == first_integers(samples));
  });
}

TEST_CASE("drop_last keeps whole rounds exactly") {
  for_all_sizes([](std::int64_t samples, int world, std::int64_t batch) {
    const Epoch epoch = epoch_of(samples, {.batch_size = batch, .drop_last = true}, world);
    check_well_formed(epoch);
    const std::int64_t round = batch * world;
    REQUIRE(gathered(epoch) == first_integers(samples / round * round));
  });
}

TEST_CASE("a shuffled epoch visits every sample once, in a new order each epoch") {
  const DataLoaderOptions options{.batch_size = 4, .shuffle = true};
  std::vector<std::vector<std::int64_t>> orders;
  for (std::int64_t number = 0; number < 3; ++number) {
    Epoch epoch;
    for (int rank = 0; rank < 3; ++rank) {
      epoch.push_back(collect(100, options, {rank, 3}, {42, number, 0}));
    }
    orders.push_back(gathered(epoch));
    std::vector<std::int64_t> sorted = orders.back();
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == first_integers(100));
  }
  CHECK(orders[0] != orders[1]);
  CHECK(orders[1] != orders[2]);
  CHECK(orders[0] != orders[2]);
}

TEST_CASE("batches of random sizes are shared out without loss") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<BatchSampler::Batch> batches;
    std::int64_t samples = 0;
    for (auto left = random() % 12; left > 0; --left) {
      BatchSampler::Batch batch(1 + random() % 5);
      std::iota(batch.begin(), batch.end(), samples);
      samples += static_cast<std::int64_t>(batch.size());
      batches.push_back(batch);
    }
    const int world = 1 + static_cast<int>(random() % 4);
    const bool even = random() % 2 == 0;
    CAPTURE(trial, batches.size(), world, even);
    const DataLoaderOptions options{.even_batches = even, .batch_sampler = batches};
    const Epoch epoch = epoch_of(samples, options, world);
    check_well_formed(epoch);
    REQUIRE(gathered(epoch) == first_integers(samples));
    for (int rank = 0; rank < world; ++rank) {
      const auto size = static_cast<std::int64_t>(epoch[static_cast<std::size_t>(rank)].size());
      REQUIRE(stream_size(samples, options, {rank, world}, {}) == size);
      if (even) REQUIRE(size == static_cast<std::int64_t>(epoch.front().size()));
    }
  }
}

TEST_CASE("a sequence that has ended is not asked again, and none is held as a whole") {
  std::int64_t given = 0;
  int ends = 0;
  const BatchSampler sampler([&](std::int64_t epoch) -> BatchSampler::Sequence {
    return [&, epoch]() -> std::optional<BatchSampler::Batch> {
      if (given == 1'000'000) {
        ++ends;
        return std::nullopt;
      }
      return BatchSampler::Batch{given++ + epoch};
    };
  });
  const auto stream = open_stream(2'000'000, {.batch_sampler = sampler}, {0, 2}, {42, 5, 0});
  CHECK(stream->next()->indices.front() == 5);
  CHECK(given <= 6);
  while (stream->next()) {
  }
  CHECK(ends == 1);
}

TEST_CASE("a hundred million samples are planned without a list of batches") {
  const auto stream = open_stream(100'000'000, {.batch_size = 64}, {1, 2}, {42, 0, 781'249});
  const auto batch = stream->next();
  REQUIRE(batch);
  CHECK(batch->indices.front() == 99'999'936);
  CHECK(batch->last);
}

TEST_CASE("samplers are checked") {
  const auto list = [](std::int64_t) { return std::vector<std::int64_t>{2, 0, 5}; };
  CHECK(text(6, {.batch_size = 2, .sampler = list}, {0, 1}) == "[2 0][5]");
  CHECK(stream_size(6, {.batch_size = 2, .sampler = list}, {0, 1}, {}) == 2);
  CHECK_THROWS_WITH(collect(5, {.sampler = list}, {0, 1}),
                    ContainsSubstring("index 5 at position 2") && ContainsSubstring("[0, 5)"));
  const std::vector<BatchSampler::Batch> empty = {{0}, {}};
  CHECK_THROWS_WITH(collect(5, {.batch_sampler = empty}, {0, 1}),
                    ContainsSubstring("batch 1") && ContainsSubstring("empty"));
  const std::vector<BatchSampler::Batch> outside = {{0, -1}};
  CHECK_THROWS_WITH(collect(5, {.batch_sampler = outside}, {0, 1}),
                    ContainsSubstring("batch 0") && ContainsSubstring("index -1"));
}

TEST_CASE("options that exclude each other are refused") {
  const auto list = [](std::int64_t) { return std::vector<std::int64_t>{0}; };
  const std::vector<BatchSampler::Batch> batches = {{0}};
  CHECK_NOTHROW(check_options({}));
  CHECK_THROWS_AS(check_options({.batch_size = 0}), ConfigError);
  CHECK_THROWS_AS(check_options({.num_workers = -1}), ConfigError);
  CHECK_THROWS_AS(check_options({.prefetch = -1}), ConfigError);
  CHECK_THROWS_AS(check_options({.prefetch = 2}), ConfigError);
  CHECK_THROWS_AS(check_options({.shuffle = true, .sampler = list}), ConfigError);
  CHECK_THROWS_AS(check_options({.shuffle = true, .batch_sampler = batches}), ConfigError);
  CHECK_THROWS_AS(check_options({.batch_size = 2, .batch_sampler = batches}), ConfigError);
  CHECK_THROWS_AS(check_options({.split_batches = true, .batch_sampler = batches}), ConfigError);
}

}  // namespace muster::test
