#include <muster/data_loader.hpp>
#include <muster/tar_shards.hpp>

#include "made_files.hpp"

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
using Paths = std::vector<std::filesystem::path>;
using Ids = std::vector<std::int64_t>;

std::int64_t class_of(const TarSample& sample) { return sample.number("cls"); }

/// A member of a tar file, with what fills its last block.
std::string member(const std::string& name, const std::string& content) {
  std::string header(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) {
    header.replace(at, text.size(), text);
  };
  put(0, name);
  std::string size = "00000000000";
  for (std::size_t i = size.size(), left = content.size(); left > 0; left /= 8) {
    size[--i] = static_cast<char>('0' + left % 8);
  }
  put(124, size);
  put(156, "0");
  put(148, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::string digits = "000000";
  for (std::size_t i = digits.size(); sum > 0; sum /= 8)
    digits[--i] = static_cast<char>('0' + sum % 8);
  put(148, digits + '\0');
  return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}

/// Shards 00.tar, 01.tar, ... that hold samples 0, 1, ... of class 0, 1, ..., `samples` each.
Paths write_shards(const TemporaryFolder& folder, int shards, int samples) {
  int id = 0;
  for (int shard = 0; shard < shards; ++shard) {
    std::string bytes;
    for (int i = 0; i < samples; ++i, ++id) {
      bytes += member(std::to_string(id) + ".cls", std::to_string(id));
    }
    write_bytes(folder / ("0" + std::to_string(shard) + ".tar"), bytes + std::string(1024, '\0'));
  }
  return shard_paths((folder / "{00..").string() + std::to_string(shards - 1) + "}.tar");
}

template <class Loader>
Ids ids_of_epoch(Loader& loader) {
  Ids ids;
  for (const auto& batch : loader) {
    const auto* first = batch.template const_data_ptr<std::int64_t>();
    ids.insert(ids.end(), first, first + batch.numel());
  }
  return ids;
}

Ids counted(std::int64_t begin, std::int64_t end) {
  Ids ids;
  for (std::int64_t i = begin; i < end; ++i) ids.push_back(i);
  return ids;
}

Ids sorted(Ids ids) {
  std::ranges::sort(ids);
  return ids;
}

}  // namespace

TEST_CASE("samples of tar files of every format") {
  for (const std::string format : {"ustar", "gnu", "pax"}) {
    CAPTURE(format);
    const TarIndex index({made_files() / (format + ".tar")});
    REQUIRE(index.size() == (format == "ustar" ? 3 : 4));
    const TarSample second = index.sample(1);
    CHECK(second.key() == "train/0001");
    CHECK(second.endings() == std::vector<std::string>{"cls", "seg.txt"});
    CHECK(second.number("cls") == 1);
    CHECK(second.text("seg.txt") == "text 1");
    CHECK(index.sample(2).number("cls") == 4);
    if (format == "ustar") continue;
    const TarSample last = index.sample(3);
    CHECK(last.key().size() == 30 * 7 + 120);
    CHECK(last.number("cls") == -7);
    CHECK(last.bytes("seg.txt").size() == 10000);
  }
}

TEST_CASE("a sample names what it lacks") {
  const TarSample sample = TarIndex({made_files() / "gnu.tar"}).sample(0);
  CHECK(sample.has("cls"));
  CHECK_FALSE(sample.has("jpg"));
  CHECK_THROWS_MATCHES(
      sample.bytes("jpg"), DataError,
      MessageMatches(ContainsSubstring("gnu.tar: sample 'train/0000' has no file '.jpg'; there "
                                       "are: .cls .seg.txt")));
  CHECK_THROWS_MATCHES(sample.number("seg.txt"), DataError,
                       MessageMatches(ContainsSubstring("no whole number: 'text 0'")));
}

TEST_CASE("a tar data set is shuffled and shared out as any other") {
  const TemporaryFolder folder;
  DataLoader loader(TarDataset(write_shards(folder, 3, 5), class_of),
                    {.batch_size = 2, .shuffle = true, .num_workers = 2, .even_batches = false});
  Ids ids;
  for (const int rank : {0, 1}) {
    auto part = loader.sharded(rank, 2, nullptr, at::kCPU, 42);
    part.set_epoch(0);
    for (const std::int64_t id : ids_of_epoch(part)) ids.push_back(id);
  }
  CHECK(ids != counted(0, 15));
  CHECK(sorted(ids) == counted(0, 15));
}

TEST_CASE("a tar stream reads shard after shard, or a rank's own shards") {
  const TemporaryFolder folder;
  const TarStream stream(write_shards(folder, 3, 4));
  const DecodeSamples decode{class_of};
  DataLoader whole(stream, {.batch_size = 5, .num_workers = 1}, decode);
  CHECK(ids_of_epoch(whole) == counted(0, 12));
  CHECK(ids_of_epoch(whole) == counted(0, 12));
  auto dealt = DataLoader(stream, {.batch_size = 2}, decode).sharded(1, 2, nullptr, at::kCPU, 42);
  CHECK(ids_of_epoch(dealt) == Ids{2, 3, 6, 7, 10, 11});
  DataLoader by_shard(stream, {.batch_size = 3, .sharded = true}, decode);
  auto first = by_shard.sharded(0, 2, nullptr, at::kCPU, 42);
  auto second = by_shard.sharded(1, 2, nullptr, at::kCPU, 42);
  CHECK(ids_of_epoch(first) == Ids{0, 1, 2, 3, 8, 9, 10, 11});
  CHECK(ids_of_epoch(second) == Ids{4, 5, 6, 7});
  auto fourth = by_shard.sharded(3, 4, nullptr, at::kCPU, 42);
  CHECK_THROWS_WITH(ids_of_epoch(fourth), ContainsSubstring("3 shards cannot be dealt to 4 ranks"));
}

TEST_CASE("a shuffled tar stream has every sample once, in an order of seed and epoch") {
  const TemporaryFolder folder;
  const TarStream stream(write_shards(folder, 4, 25), {.shuffle = true, .shuffle_buffer = 30});
  DataLoader loader(stream, {.batch_size = 10}, DecodeSamples{class_of});
  const Ids first = ids_of_epoch(loader), second = ids_of_epoch(loader);
  CHECK(first != counted(0, 100));
  CHECK(first != second);
  CHECK(sorted(first) == counted(0, 100));
  CHECK(sorted(second) == counted(0, 100));
  loader.set_epoch(0);
  CHECK(ids_of_epoch(loader) == first);
}

TEST_CASE("random numbers of a tar sample do not depend on ranks, batches or workers") {
  const TemporaryFolder folder;
  const Paths shards = write_shards(folder, 2, 3);
  const auto random = [](const TarSample& sample, at::Generator& generator) {
    return at::cat({at::scalar_tensor(sample.number("cls")).reshape({1}).to(at::kDouble),
                    at::rand({1}, generator, at::kDouble)});
  };
  const auto drawn = [](auto loader) {
    std::map<std::int64_t, double> numbers;
    for (const auto& batch : loader) {
      for (std::int64_t i = 0; i < batch.size(0); ++i) {
        numbers[static_cast<std::int64_t>(batch[i][0].template item<double>())] =
            batch[i][1].template item<double>();
      }
    }
    return numbers;
  };
  const DecodeSamples decode{random};
  const auto alone = drawn(DataLoader(TarStream(shards), {.batch_size = 1}, decode));
  CHECK(alone.size() == 6);
  CHECK(drawn(DataLoader(TarStream(shards), {.batch_size = 4, .num_workers = 2}, decode)) == alone);
  auto of_two = drawn(DataLoader(TarStream(shards), {.batch_size = 1, .sharded = true}, decode)
                          .sharded(1, 2, nullptr, at::kCPU, 42));
  CHECK(of_two.size() == 3);
  for (const auto& [id, number] : of_two) CHECK(alone.at(id) == number);
}

TEST_CASE("what decoding throws names the sample") {
  const TemporaryFolder folder;
  const auto decode = [](const TarSample& sample) {
    if (sample.key() == "3") throw std::runtime_error("bad-3");
    return sample.number("cls");
  };
  const Paths shards = write_shards(folder, 1, 5);
  DataLoader indexed(TarDataset(shards, decode), {.batch_size = 5});
  CHECK_THROWS_WITH(ids_of_epoch(indexed), ContainsSubstring("00.tar: sample '3': bad-3"));
  DataLoader streamed(TarStream(shards), {.batch_size = 5}, DecodeSamples{decode});
  CHECK_THROWS_WITH(ids_of_epoch(streamed), ContainsSubstring("00.tar: sample '3': bad-3"));
}

TEST_CASE("tar files that cannot be read are refused by name") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& bytes, const std::string& reason) {
    CAPTURE(reason);
    write_bytes(folder / "a.tar", bytes);
    CHECK_THROWS_MATCHES(TarIndex({folder / "a.tar"}), DataError,
                         MessageMatches(ContainsSubstring("a.tar: ") && ContainsSubstring(reason)));
  };
  CHECK_THROWS_MATCHES(TarIndex({made_files() / "packed.tar.gz"}), DataError,
                       MessageMatches(ContainsSubstring("compressed")));
  const std::string sound = member("0.cls", "1") + member("0.txt", std::string(600, 'x'));
  refused("", "no sample in it");
  refused(std::string(1024, '\0'), "no sample in it");
  refused("tar", "cut off in a header");
  refused(std::string(512, 'x'), "no tar file");
  refused(sound.substr(0, 1700), "cut off: '0.txt' should have 600 bytes, there are 164");
  refused(sound + "x", "cut off in a header");
  refused(sound + member("0.txt", "again"), "has two files '.txt'");
  std::string damaged = sound;
  damaged[1024] = 'y';
  refused(damaged, "checksum is wrong (at byte 1024)");
  CHECK_THROWS_AS(TarIndex({}), ConfigError);
  CHECK_THROWS_AS(TarStream({}), ConfigError);
  CHECK_THROWS_AS(TarStream({"a"}, {.shuffle_buffer = -1}), ConfigError);
}

TEST_CASE("a damaged tar file is read or refused, and nothing else") {
  const std::string sound = bytes_of(made_files() / "pax.tar");
  const TemporaryFolder folder;
  std::mt19937 random(4);
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string damaged = sound.substr(0, 1 + random() % sound.size());
    // With checksums that are right: what lies behind them has to hold by itself.
    const std::size_t block = random() % (damaged.size() / 512 + 1) * 512;
    if (block + 512 <= damaged.size()) {
      damaged[block + random() % 512] = static_cast<char>(random());
      if (i % 2 == 0) {
        unsigned sum = 0;
        for (std::size_t at = 0; at < 512; ++at) {
          sum += static_cast<unsigned char>(at >= 148 && at < 156 ? ' ' : damaged[block + at]);
        }
        for (std::size_t at = 154; at-- > 148; sum /= 8) {
          damaged[block + at] = static_cast<char>('0' + sum % 8);
        }
      }
    }
    write_bytes(folder / "a.tar", damaged);
    try {
      const TarIndex index({folder / "a.tar"});
      for (std::int64_t sample = 0; sample < index.size(); ++sample) (void)index.sample(sample);
    } catch (const DataError&) {
      ++refused;
    }
  }
  CHECK(refused > 300);
}

TEST_CASE("patterns of shards are spelt out") {
  const TemporaryFolder folder;
  for (const char* name : {"a-08.tar", "a-09.tar", "a-10.tar", "b-1-x.tar"}) {
    write_bytes(folder / name, "");
  }
  const auto names = [&](const std::string& pattern) {
    std::vector<std::string> found;
    for (const auto& path : shard_paths((folder / pattern).string())) {
      found.push_back(path.filename().string());
    }
    return found;
  };
  using Names = std::vector<std::string>;
  CHECK(names("a-{08..10}.tar") == Names{"a-08.tar", "a-09.tar", "a-10.tar"});
  CHECK(names("?-*{8..9}.tar") == Names{"a-08.tar", "a-09.tar"});
  CHECK(names("b-{1..1}-x.tar") == Names{"b-1-x.tar"});
  CHECK(names("*.tar").size() == 4);
  CHECK_THROWS_MATCHES(names("a-{08..11}.tar"), DataError,
                       MessageMatches(ContainsSubstring("a-11.tar: no such file")));
  for (const char* pattern :
       {"a-{08..", "a-{08}", "a-{x..9}", "a-{9..8}", "a-{-1..2}", "a-{0..}"}) {
    CAPTURE(pattern);
    CHECK_THROWS_MATCHES(names(pattern), ConfigError,
                         MessageMatches(ContainsSubstring("expected {FIRST..LAST}")));
  }
}

}  // namespace muster::test
