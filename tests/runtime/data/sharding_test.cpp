#include <muster/error.hpp>

#include "streams.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

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

}  // namespace

TEST_CASE("each rank reads the batches of the table") {
  for (const Row& row : rows) {
    const int count = static_cast<int>(row.ranks.size());
    for (int rank = 0; rank < count; ++rank) {
      CAPTURE(row.number, row.samples, row.batch_size, row.mode, rank);
      const DataLoaderOptions options = options_of(row);
      CHECK(text(row.samples, options, {rank, count}) == row.ranks[static_cast<std::size_t>(rank)]);
      CHECK(stream_size(row.samples, options, {rank, count}, 0) ==
            static_cast<std::int64_t>(collect(row.samples, options, {rank, count}).size()));
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
