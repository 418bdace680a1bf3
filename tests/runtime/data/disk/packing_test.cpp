#include <muster/data_loader.hpp>
#include <muster/error.hpp>
#include <muster/sequence_packing.hpp>

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <random>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using List = std::vector<std::int64_t>;
using Lists = std::vector<List>;

List values(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous();
  const auto* first = flat.const_data_ptr<std::int64_t>();
  return {first, first + flat.numel()};
}

}  // namespace

TEST_CASE("sequences go where they leave least room") {
  CHECK((pack_sequences(List{2, 5, 4, 3, 1, 6}, 7) == Lists{{4, 5}, {0, 1}, {2, 3}}));
  CHECK(pack_sequences(List{}, 4).empty());
  CHECK((pack_sequences(List{4, 4}, 4) == Lists{{0}, {1}}));
  CHECK_THROWS_MATCHES(pack_sequences(List{1, 5}, 4), ConfigError,
                       MessageMatches(ContainsSubstring("sequence 1 is 5 long; expected 1 to 4")));
  CHECK_THROWS_AS(pack_sequences(List{0}, 4), ConfigError);
}

TEST_CASE("packing keeps every sequence once, no row over its capacity, and wastes little") {
  std::mt19937 random(3);
  List lengths(5000);
  std::int64_t sum = 0;
  for (auto& length : lengths) sum += length = 1 + static_cast<std::int64_t>(random() % 512);
  const Lists rows = pack_sequences(lengths, 512);
  std::vector<int> seen(lengths.size());
  for (const List& row : rows) {
    std::int64_t filled = 0;
    for (const std::int64_t sequence : row) {
      ++seen[static_cast<std::size_t>(sequence)];
      filled += lengths[static_cast<std::size_t>(sequence)];
    }
    CHECK(filled <= 512);
  }
  CHECK(seen == std::vector<int>(lengths.size(), 1));
  CHECK(static_cast<double>(sum) / static_cast<double>(rows.size()) > 0.98 * 512);
}

TEST_CASE("documents are found by their separator, at either end") {
  const at::Tensor tokens = at::tensor({1, 9, 2, 3, 9, 9, 4}, at::kInt).to(at::kUInt16);
  CHECK(document_lengths(tokens, 9) == List{2, 3, 1, 1});
  CHECK(document_lengths(tokens, 9, Separator::begins) == List{1, 3, 1, 2});
  CHECK(document_lengths(at::empty({0}, at::kLong), 9).empty());
  const at::Tensor large = at::arange(200'000) % 70'000;
  CHECK(document_lengths(large, 69'999) == List{70'000, 70'000, 60'000});
}

TEST_CASE("a row has its documents' tokens, targets, positions and numbers") {
  // Documents 10 11 12 | 20 | 30 31 32 33 34 35 36 | (none)
  const at::Tensor tokens = at::tensor({10, 11, 12, 20, 30, 31, 32, 33, 34, 35, 36}, at::kInt);
  const PackedDataset packed(tokens, {3, 1, 7, 0}, {.length = 5, .padding_token = 99});
  REQUIRE(packed.size() == 2);
  CHECK(packed.filled() == 0.8);
  const auto batch = packed.get_batch({0, 1});
  CHECK(values(batch.data.at("tokens")) == List{30, 31, 32, 33, 34, 10, 11, 35, 99, 99});
  CHECK(values(batch.target) == List{31, 32, 33, 34, 35, 11, 12, 36, -100, -100});
  CHECK(values(batch.data.at("positions")) == List{0, 1, 2, 3, 4, 0, 1, 5, 0, 0});
  CHECK(values(batch.data.at("documents")) == List{0, 0, 0, 0, 0, 0, 0, 1, -1, -1});
}

TEST_CASE("every token that can be predicted is, once an epoch, over ranks") {
  std::mt19937 random(5);
  List lengths(200);
  std::int64_t sum = 0;
  for (auto& length : lengths) sum += length = static_cast<std::int64_t>(random() % 100);
  const PackedDataset packed(at::arange(sum), lengths, {.length = 32});
  List expected, found;
  std::int64_t begin = 0;
  for (const std::int64_t length : lengths) {
    for (std::int64_t i = 1; i < length; ++i) expected.push_back(begin + i);
    begin += length;
  }
  DataLoader loader(packed, {.batch_size = 4, .shuffle = true, .even_batches = false});
  for (const int rank : {0, 1}) {
    auto part = loader.sharded(rank, 2, nullptr, at::kCPU, 42);
    part.set_epoch(0);
    for (const auto& batch : part) {
      const at::Tensor real = batch.target != -100;
      CHECK(at::equal(batch.data.at("tokens").masked_select(real) + 1,
                      batch.target.masked_select(real)));
      CHECK(at::equal(real, batch.data.at("documents") >= 0));
      for (const std::int64_t target : values(batch.target.masked_select(real))) {
        found.push_back(target);
      }
    }
  }
  std::ranges::sort(found);
  CHECK(found == expected);
}

TEST_CASE("no document looks at another, or ahead") {
  const at::Tensor mask = document_mask(at::tensor({0, 0, 1, -1}, at::kLong).unsqueeze(0));
  CHECK(mask.sizes() == at::IntArrayRef{1, 1, 4, 4});
  CHECK(at::equal(
      mask[0][0].to(at::kLong),
      at::tensor({1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, at::kLong).reshape({4, 4})));
  CHECK_THROWS_AS(document_mask(at::arange(3)), ConfigError);
}

TEST_CASE("lengths that do not fit the tokens, and documents without a target, are refused") {
  const at::Tensor tokens = at::arange(4);
  CHECK_THROWS_MATCHES(PackedDataset(tokens, {1, 2}, {.length = 4}), ConfigError,
                       MessageMatches(ContainsSubstring("are 3 in all; expected as many as there "
                                                        "are tokens, 4")));
  CHECK_THROWS_AS(PackedDataset(tokens, {5, -1}, {.length = 4}), ConfigError);
  CHECK_THROWS_AS(PackedDataset(tokens, {4}, {.length = 0}), ConfigError);
  CHECK_THROWS_MATCHES(PackedDataset(tokens, {1, 1, 1, 1}, {.length = 4}), ConfigError,
                       MessageMatches(ContainsSubstring("nothing can be predicted")));
}

}  // namespace muster::test
