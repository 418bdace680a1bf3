#include <muster/data_loader.hpp>
#include <muster/token_dataset.hpp>

#include "made_files.hpp"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <numeric>

namespace muster::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

std::vector<std::int64_t> values(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous();
  const auto* first = flat.const_data_ptr<std::int64_t>();
  return {first, first + flat.numel()};
}

/// 0, 1, ... with the header of llm.c.
template <class T>
void write_with_header(const std::filesystem::path& path, std::uint32_t magic,
                       std::uint32_t version, std::uint32_t promised, std::size_t tokens) {
  std::vector<std::uint32_t> header(256);
  header[0] = magic;
  header[1] = version;
  header[2] = promised;
  std::vector<T> numbers(tokens);
  std::iota(numbers.begin(), numbers.end(), T{0});
  std::string bytes(1024 + tokens * sizeof(T), '\0');
  std::memcpy(bytes.data(), header.data(), 1024);
  std::memcpy(bytes.data() + 1024, numbers.data(), tokens * sizeof(T));
  write_bytes(path, bytes);
}

}  // namespace

TEST_CASE("tokens of a file without a header, and with those of llm.c") {
  const TemporaryFolder folder;
  write_numbers<std::uint16_t>(folder / "plain.bin", {0, 65535, 7});
  const at::Tensor plain = map_tokens(folder / "plain.bin");
  CHECK(plain.scalar_type() == at::kUInt16);
  CHECK(values(plain.to(at::kLong)) == std::vector<std::int64_t>{0, 65535, 7});
  write_with_header<std::uint16_t>(folder / "two.bin", 20240520, 1, 5, 5);
  CHECK(values(map_tokens(folder / "two.bin").to(at::kLong)) ==
        std::vector<std::int64_t>{0, 1, 2, 3, 4});
  write_with_header<std::uint32_t>(folder / "four.bin", 20240801, 7, 3, 3);
  const at::Tensor four = map_tokens(folder / "four.bin");
  CHECK(four.scalar_type() == at::kUInt32);
  CHECK(four.numel() == 3);
  write_with_header<std::uint16_t>(folder / "short.bin", 20240520, 1, 6, 5);
  CHECK_THROWS_MATCHES(map_tokens(folder / "short.bin"), DataError,
                       MessageMatches(ContainsSubstring("tells of 6 tokens") &&
                                      ContainsSubstring("1036 bytes long; it is 1034")));
}

TEST_CASE("samples are windows, and targets the tokens after them") {
  const TokenDataset tokens(at::arange(10), {.length = 3});
  REQUIRE(tokens.size() == 3);
  CHECK(values(tokens.get(2).data) == std::vector<std::int64_t>{6, 7, 8});
  CHECK(values(tokens.get(2).target) == std::vector<std::int64_t>{7, 8, 9});
  const TokenDataset overlapping(at::arange(10), {.length = 3, .stride = 2});
  REQUIRE(overlapping.size() == 4);
  const Example<> batch = overlapping.get_batch({3, 0});
  CHECK(batch.data.sizes() == at::IntArrayRef{2, 3});
  CHECK(values(batch.data) == std::vector<std::int64_t>{6, 7, 8, 0, 1, 2});
  CHECK(values(batch.target) == std::vector<std::int64_t>{7, 8, 9, 1, 2, 3});
  CHECK_THROWS_AS(tokens.get(3), ConfigError);
  CHECK_THROWS_AS(tokens.get(-1), ConfigError);
}

TEST_CASE("no sample reaches from one file into the next, whatever their dtypes") {
  const TokenDataset tokens(
      {at::arange(5, at::kByte), at::arange(2, at::kInt), at::arange(100, 108).to(at::kUInt16)},
      {.length = 2});
  REQUIRE(tokens.size() == 5);  // 2, 0 and 3.
  CHECK(values(tokens.get_batch({1, 2, 4}).data) ==
        std::vector<std::int64_t>{2, 3, 100, 101, 104, 105});
}

TEST_CASE("tokens that make no sample are refused") {
  CHECK_THROWS_MATCHES(TokenDataset(at::arange(4), {.length = 4}), ConfigError,
                       MessageMatches(ContainsSubstring("4 tokens in all have no sample of length "
                                                        "4, for which one of them needs 5")));
  CHECK_THROWS_MATCHES(TokenDataset(at::arange(4.0F), {.length = 1}), ConfigError,
                       MessageMatches(ContainsSubstring("the tokens are Float [4] on cpu")));
  CHECK_THROWS_AS(TokenDataset(at::zeros({2, 2}, at::kLong), {.length = 1}), ConfigError);
  CHECK_THROWS_AS(TokenDataset(at::Tensor(), {.length = 1}), ConfigError);
  CHECK_THROWS_AS(TokenDataset(at::arange(4), {.length = 0}), ConfigError);
  CHECK_THROWS_AS(TokenDataset(at::arange(4), {.length = 1, .stride = -1}), ConfigError);
}

TEST_CASE("ranks share out the windows of a token file, with workers too") {
  const TemporaryFolder folder;
  std::vector<std::uint16_t> numbers(41);
  std::iota(numbers.begin(), numbers.end(), std::uint16_t{0});
  write_numbers(folder / "a.bin", numbers);
  DataLoader loader(TokenDataset(map_tokens(folder / "a.bin"), {.length = 4}),
                    {.batch_size = 2, .shuffle = true, .num_workers = 2});
  std::vector<std::int64_t> firsts;
  for (const int rank : {0, 1}) {
    auto part = loader.sharded(rank, 2, nullptr, at::kCPU, 42);
    part.set_epoch(0);
    for (const auto& batch : part) {
      CHECK(at::equal(batch.data + 1, batch.target));
      for (const std::int64_t first : values(batch.data.select(1, 0))) firsts.push_back(first);
    }
  }
  std::ranges::sort(firsts);
  firsts.erase(std::ranges::unique(firsts).begin(), firsts.end());
  CHECK(firsts == std::vector<std::int64_t>{0, 4, 8, 12, 16, 20, 24, 28, 32, 36});
}

}  // namespace muster::test
