#include <muster/error.hpp>

#include "streams.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;

/// A known-good table: which indices each rank reads. Mode: E even_batches, U not; D drop_last; S
/// split_batches.
struct Row {
  int number;
  std::int64_t samples, batch_size;
  std::string mode;
  std::vector<std::string> ranks;
};

DataLoaderOptions options_of(const Row& row) {
  const auto has = [&](char letter) { return row.mode.find(letter) != std::string::npos; };
  return {.batch_size = row.batch_size,
          .drop_last = has('D'),
          .even_batches = !has('U'),
          .split_batches = has('S')};
}

const std::string full_0 = "[0 1 2][6 7 8][12 13 14][18 19 20]";
const std::string full_1 = "[3 4 5][9 10 11][15 16 17]";
const std::string split_0 = "[0 1][4 5][8 9][12 13][16 17]";
const std::string split_1 = "[2 3][6 7][10 11][14 15][18 19]";

const std::vector<Row> rows = {
    {1, 24, 3, "E", {full_0, full_1 + "[21 22 23]"}},
    {1, 24, 3, "ED", {full_0, full_1 + "[21 22 23]"}},
    {2, 21, 3, "E", {full_0, full_1 + "[0 1 2]"}},
    {3, 22, 3, "E", {full_0, full_1 + "[21 0 1]"}},
    {4, 20, 3, "E", {"[0 1 2][6 7 8][12 13 14][18 19 0]", full_1 + "[1 2 3]"}},
    {5, 20, 3, "ED", {"[0 1 2][6 7 8][12 13 14]", full_1}},
    {5, 21, 3, "ED", {"[0 1 2][6 7 8][12 13 14]", full_1}},
    {5, 22, 3, "ED", {"[0 1 2][6 7 8][12 13 14]", full_1}},
    {6, 2, 3, "E", {"[0 1 0]", "[1 0 1]"}},
    {7, 2, 3, "ED", {"", ""}},
    {8, 20, 3, "U", {"[0 1 2][6 7 8][12 13 14][18 19]", full_1}},
    {9, 22, 3, "U", {full_0, full_1 + "[21]"}},
    {10, 21, 3, "U", {full_0, full_1}},
    {11, 2, 3, "U", {"[0 1]", ""}},
    {12, 22, 4, "ES", {split_0 + "[20 21]", split_1 + "[0 1]"}},
    {13, 21, 4, "ES", {split_0 + "[20 0]", split_1 + "[1 2]"}},
    {14, 21, 4, "ESD", {split_0, split_1}},
    {15, 2, 4, "ES", {"[0 1]", "[0 1]"}},
    {16, 21, 4, "US", {split_0 + "[20]", split_1}},
    {17, 2, 4, "US", {"[0 1]", ""}},
    {18, 10, 4, "E", {"[0 1 2 3]", "[4 5 6 7]", "[8 9 0 1]"}},
    {19, 10, 2, "E", {"[0 1][6 7]", "[2 3][8 9]", "[4 5][0 1]"}},
    {20, 13, 2, "E", {"[0 1][6 7][12 0]", "[2 3][8 9][1 2]", "[4 5][10 11][3 4]"}},
    {21, 7, 2, "U", {"[0 1][6]", "[2 3]", "[4 5]"}},
    {22, 1, 2, "E", {"[0 0]", "[0 0]", "[0 0]"}},
    {23, 3, 4, "E", {"[0 1 2 0]", "[1 2 0 1]", "[2 0 1 2]", "[0 1 2 0]"}},
    {24,
     17,
     2,
     "E",
     {"[0 1][8 9][16 0]", "[2 3][10 11][1 2]", "[4 5][12 13][3 4]", "[6 7][14 15][5 6]"}},
    {25, 17, 2, "ED", {"[0 1][8 9]", "[2 3][10 11]", "[4 5][12 13]", "[6 7][14 15]"}},
    {26, 17, 2, "U", {"[0 1][8 9][16]", "[2 3][10 11]", "[4 5][12 13]", "[6 7][14 15]"}},
    {27, 10, 6, "ES", {"[0 1][6 7]", "[2 3][8 9]", "[4 5][0 1]"}},
    {28, 10, 6, "US", {"[0 1][6 7]", "[2 3][8 9]", "[4 5]"}},
    {29, 5, 8, "ES", {"[0 1]", "[2 3]", "[4 0]", "[1 2]"}},
    {30, 5, 1, "E", {"[0][4]", "[1][0]", "[2][1]", "[3][2]"}},
    {32, 0, 2, "E", {"", ""}},
    {33, 11, 4, "E", {"[0 1 2 3][4 5 6 7][8 9 10]"}},
};

/// What gather_for_metrics makes of batches in rank order.
std::vector<std::int64_t> gathered(const std::vector<IndexBatch>& batches) {
  std::vector<std::int64_t> all, round;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const IndexBatch& batch = batches[i];
    if (batch.items.empty()) {
      round.insert(round.end(), batch.indices.begin(), batch.indices.end());
    } else {
      for (const Item& item : batch.items) round.push_back(number_of(item));
    }
    if (i + 1 < batches.size() && batches[i + 1].number == batch.number) continue;
    if (batch.real_samples >= 0) round.resize(static_cast<std::size_t>(batch.real_samples));
    all.insert(all.end(), round.begin(), round.end());
    round.clear();
  }
  return all;
}

/// 0, 1, ... of what drop_last leaves.
std::vector<std::int64_t> first_integers(std::int64_t samples, const DataLoaderOptions& options,
                                         int count) {
  const std::int64_t width = options.batch_size * (options.split_batches ? 1 : count);
  std::vector<std::int64_t> all(
      static_cast<std::size_t>(options.drop_last ? samples / width * width : samples));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

TEST_CASE("each rank reads the batches of the table") {
  for (const Row& row : rows) {
    const int count = static_cast<int>(row.ranks.size());
    for (int rank = 0; rank < count; ++rank) {
      CAPTURE(row.number, row.samples, row.batch_size, row.mode, rank);
      const DataLoaderOptions options = options_of(row);
      CHECK(text(row.samples, options, {rank, count}) == row.ranks[static_cast<std::size_t>(rank)]);
      CHECK(stream_size(row.samples, options, {rank, count}, {}) ==
            static_cast<std::int64_t>(collect(row.samples, options, {rank, count}).size()));
    }
  }
}

TEST_CASE("a stream is shared out like a data set of the same samples") {
  for (const Row& row : rows) {
    const int count = static_cast<int>(row.ranks.size());
    for (int rank = 0; rank < count; ++rank) {
      CAPTURE(row.number, row.samples, row.batch_size, row.mode, rank);
      const DataLoaderOptions options = options_of(row);
      const auto stream = collect_stream(row.samples, options, {rank, count});
      CHECK(text(stream) == row.ranks[static_cast<std::size_t>(rank)]);
      const auto indexed = collect(row.samples, options, {rank, count});
      REQUIRE(stream.size() == indexed.size());
      for (std::size_t i = 0; i < stream.size(); ++i) {
        CHECK(stream[i].real_samples == indexed[i].real_samples);
        CHECK(stream[i].samples == indexed[i].samples);
        CHECK(stream[i].number == indexed[i].number);
        CHECK(stream[i].position == indexed[i].position);
        CHECK(stream[i].last == indexed[i].last);
      }
    }
  }
}

/// What rank 0 reads for all ranks.
const std::vector<Row> dispatched = {
    {1, 9, 2, "E", {"[0 1][4 5][8]", "[2 3][6 7][0]"}},
    {2, 10, 2, "E", {"[0 1][4 5][8]", "[2 3][6 7][9]"}},
    {3, 9, 2, "ED", {"[0 1][4 5]", "[2 3][6 7]"}},
    {4, 9, 4, "ES", {"[0 1][4 5][8]", "[2 3][6 7][0]"}},
    {5, 13, 2, "E", {"[0 1][6 7][12]", "[2 3][8 9][0]", "[4 5][10 11][1]"}},
    {6, 17, 2, "E", {"[0 1][6 7][12 13]", "[2 3][8 9][14 15]", "[4 5][10 11][16 0]"}},
    {7, 10, 4, "E", {"[0 1 2 3]", "[4 5 6 7]", "[8 9 0 1]"}},
    {8, 10, 3, "ES", {"[0][3][6][9]", "[1][4][7][0]", "[2][5][8][1]"}},
    {9, 11, 6, "ES", {"[0 1][6 7]", "[2 3][8 9]", "[4 5][10 0]"}},
    {10, 0, 2, "E", {"", ""}},
    {11, 1, 2, "E", {"[0]", "[0]", "[0]"}},
    // Nothing is repeated: ranks differ by one, and none gets an empty batch.
    {12, 9, 2, "U", {"[0 1][4 5][8]", "[2 3][6 7]"}},
    {13, 11, 2, "U", {"[0 1][6 7]", "[2 3][8 9]", "[4 5][10]"}},
};

TEST_CASE("rank 0 dispatches the batches of the table, of a data set or a stream") {
  for (const Row& row : dispatched) {
    const int count = static_cast<int>(row.ranks.size());
    DataLoaderOptions options = options_of(row);
    options.dispatch = true;
    for (const bool stream : {false, true}) {
      CAPTURE(row.number, row.samples, row.batch_size, row.mode, stream);
      const auto all = stream ? collect_stream(row.samples, options, {0, count})
                              : collect_dispatch(row.samples, options, count);
      std::vector<std::int64_t> metrics;
      for (int rank = 0; rank < count; ++rank) {
        std::vector<IndexBatch> own;
        for (const auto& batch : all) {
          if (batch.rank == rank) own.push_back(batch);
        }
        CHECK(text(own) == row.ranks[static_cast<std::size_t>(rank)]);
        if (!own.empty()) CHECK(own.back().last);
      }
      CHECK(gathered(all) == first_integers(row.samples, options, count));
    }
  }
}

TEST_CASE("skipping is exact in every mode") {
  for (const bool stream : {false, true}) {
    for (const bool dispatch : {false, true}) {
      CAPTURE(stream, dispatch);
      const DataLoaderOptions options{.batch_size = 2, .dispatch = dispatch};
      const StreamStart skip{42, 0, 1};
      const std::vector<std::string> expected = {"[4 5][8 9]", "[6 7][10 11]"};
      for (int rank = 0; rank < 2; ++rank) {
        const Shard shard{rank, 2};
        std::vector<IndexBatch> batches;
        if (!dispatch) {
          batches =
              stream ? collect_stream(12, options, shard, skip) : collect(12, options, shard, skip);
        } else {
          const auto all = stream ? collect_stream(12, options, {0, 2}, skip)
                                  : collect_dispatch(12, options, 2, skip);
          std::copy_if(all.begin(), all.end(), std::back_inserter(batches),
                       [&](const IndexBatch& batch) { return batch.rank == rank; });
        }
        CHECK(text(batches) == expected[static_cast<std::size_t>(rank)]);
        CHECK(batches.front().number == 1);
      }
    }
  }
}

TEST_CASE("row 31: a batch that cannot be split is refused with both numbers") {
  const DataLoaderOptions options{.batch_size = 5, .split_batches = true};
  REQUIRE_THROWS_AS(open_stream(10, options, {0, 3}, {}), ConfigError);
  REQUIRE_THROWS_WITH(open_stream(10, options, {0, 3}, {}),
                      ContainsSubstring("5") && ContainsSubstring("3 ranks"));
}

TEST_CASE("row 34: the shuffled order is a function of seed and epoch") {
  const DataLoaderOptions options{.batch_size = 2, .shuffle = true};
  CHECK(text(10, options, {0, 2}, {42, 0, 0}) == "[2 6][4 5][3 7]");
  CHECK(text(10, options, {1, 2}, {42, 0, 0}) == "[1 8][0 9][2 6]");
  CHECK(text(10, options, {0, 2}, {42, 1, 0}) == "[8 4][5 1][2 3]");
  CHECK(text(10, options, {1, 2}, {42, 1, 0}) == "[9 0][6 7][8 4]");
}

TEST_CASE("row 35: batches of several sizes from a batch sampler") {
  const std::vector<BatchSampler::Batch> batches = {
      {0, 1, 2}, {3, 4}, {5, 6, 7, 8}, {9, 10, 11}, {12, 13}};
  const DataLoaderOptions uneven{.even_batches = false, .batch_sampler = batches};
  CHECK(text(14, uneven, {0, 2}) == "[0 1 2][5 6 7 8][12 13]");
  CHECK(text(14, uneven, {1, 2}) == "[3 4][9 10 11]");
  const DataLoaderOptions even{.batch_sampler = batches};
  CHECK(text(14, even, {0, 2}) == "[0 1 2][5 6 7 8][12 13]");
  CHECK(text(14, even, {1, 2}) == "[3 4][9 10 11][0 1 2]");
  CHECK(collect(14, even, {1, 2}).back().real_samples == 2);
  const DataLoaderOptions whole{.drop_last = true, .batch_sampler = batches};
  CHECK(text(14, whole, {0, 2}) == "[0 1 2][5 6 7 8]");
  CHECK(text(14, whole, {1, 2}) == "[3 4][9 10 11]");
}

TEST_CASE("skipping leaves out the first batches and nothing else") {
  const DataLoaderOptions options{.batch_size = 2};
  CHECK(text(12, options, {0, 2}, {42, 0, 1}) == "[4 5][8 9]");
  CHECK(text(12, options, {1, 2}, {42, 0, 1}) == "[6 7][10 11]");
  CHECK(text(12, options, {1, 2}, {42, 0, 9}).empty());
  const auto rest = collect(9, options, {0, 2}, {42, 0, 2});
  CHECK(text(rest) == "[8 0]");
  CHECK(rest.front().real_samples == 1);
  CHECK(rest.front().number == 2);
}

}  // namespace muster::test
