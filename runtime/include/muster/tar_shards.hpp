#pragma once

#include <muster/collate.hpp>
#include <muster/data_error.hpp>
#include <muster/stream.hpp>

#include <ATen/core/Generator.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster {

class MappedFile;

/// The paths that a pattern stands for, in order: "train-{000..015}.tar" is 16 of them, and * and ?
/// match what is there (sorted). Throws DataError if nothing matches, ConfigError for a range that
/// cannot be read.
std::vector<std::filesystem::path> shard_paths(std::string_view pattern);

/// A sample in a tar file, as WebDataset writes them: files that follow one another and whose paths
/// are equal up to the first dot of the last part, which is the sample's key. What follows that dot
/// is a file's ending, in lower case: train/0001.jpg and train/0001.cls are one sample of key
/// "train/0001" with "jpg" and "cls". Its bytes are those in the mapped file; copies share it.
class TarSample {
 public:
  const std::string& key() const noexcept { return key_; }
  bool has(std::string_view ending) const { return files_.contains(ending); }
  std::vector<std::string> endings() const;
  /// Throws DataError, with shard, key and the endings that there are, if there is none such, as
  /// the next two do.
  std::span<const std::byte> bytes(std::string_view ending) const;
  /// The bytes as text.
  std::string_view text(std::string_view ending) const;
  /// The whole number that the text is. Throws DataError, too, if it is none.
  std::int64_t number(std::string_view ending) const;
  /// "SHARD: sample 'KEY'", for messages.
  std::string name() const;
  /// A new one, whose numbers are a function of what a TarStream was started with, (seed, epoch),
  /// and of the sample.
  at::Generator generator() const;

  using Files = std::map<std::string, std::span<const std::byte>, std::less<>>;
  TarSample(std::shared_ptr<const MappedFile> file, std::string key, Files files);
  /// What generator() begins with.
  void set_seed(std::uint64_t seed) noexcept { seed_ = seed; }

 private:
  std::shared_ptr<const MappedFile> file_;
  std::string key_;
  Files files_;
  std::uint64_t seed_ = 0;
};

/// Where the samples of some shards are.
class TarIndex {
 public:
  explicit TarIndex(const std::vector<std::filesystem::path>& shards);
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(places_.size()); }
  TarSample sample(std::int64_t index) const;

 private:
  struct Place {
    std::size_t shard, offset;
  };
  std::vector<std::shared_ptr<const MappedFile>> shards_;
  std::vector<Place> places_;
};

/// Throws the exception in flight as the cause of a DataError that begins with the sample's name.
[[noreturn]] void rethrow_for(const TarSample& sample);

/// Calls decode(sample, generator), or decode(sample) if it takes no generator.
template <class Decode>
auto decode_sample(const Decode& decode, const TarSample& sample, at::Generator& generator) {
  try {
    if constexpr (std::invocable<const Decode&, const TarSample&, at::Generator&>) {
      return decode(sample, generator);
    } else {
      return decode(sample);
    }
  } catch (...) {
    rethrow_for(sample);
  }
}

/// The samples of tar files, read by index, in the order of the shards: shuffling, sharing out and
/// resuming are those of any other data set. Every shard's headers are read once, at the start, and
/// none of its contents; 16 bytes a sample are kept. Where that is too slow (a network's file
/// system, a great many samples), take a TarStream.
///
/// `decode` makes an example of a `const TarSample&`; with an `at::Generator&` as second argument
/// it gets one whose numbers are a function of (seed, epoch, sample). What it throws becomes the
/// cause of a DataError that names the sample. Any thread may read it, and several call decode.
template <class Decode>
class TarDataset {
 public:
  /// Throws DataError for a shard that is missing, damaged or compressed, or without samples.
  TarDataset(const std::vector<std::filesystem::path>& shards, Decode decode)
      : index_(shards), decode_(std::move(decode)) {}

  std::int64_t size() const noexcept { return index_.size(); }
  auto get(std::int64_t index, at::Generator generator) const {
    return decode_sample(decode_, index_.sample(index), generator);
  }

 private:
  TarIndex index_;
  Decode decode_;
};

struct TarStreamOptions {
  bool shuffle = false;  ///< The shards' order in each epoch is a function of (seed, epoch).
  /// Over 1: each sample given out is drawn from that many that wait. A function of (seed, epoch).
  std::int64_t shuffle_buffer = 0;
};

/// Tar files read from front to end: the muster::Stream for shards that are dear to look through.
/// Its examples are TarSamples, so a DataLoader of it needs a collate function: DecodeSamples.
///
/// In a loader that is `sharded`, rank r of n reads shards r, r + n, ... of the epoch's order, and
/// ranks may have different numbers of samples; otherwise every rank looks through all of them.
class TarStream {
 public:
  /// Throws ConfigError for no shards, or a buffer under 0.
  explicit TarStream(std::vector<std::filesystem::path> shards, TarStreamOptions options = {});

  /// Starts an epoch. What it returns throws DataError, when it comes to it, for a shard that is
  /// missing, damaged or compressed. Throws ConfigError for fewer shards than ranks of a sharded
  /// loader.
  std::function<std::optional<TarSample>()> operator()(const EpochStart& start) const;

 private:
  std::vector<std::filesystem::path> shards_;
  TarStreamOptions options_;
};

/// Collates what `decode`, as in TarDataset, makes of each sample of a TarStream. Workers do it.
template <class Decode>
struct DecodeSamples {
  Decode decode;

  auto operator()(const std::vector<TarSample>& samples) const {
    std::vector<std::remove_cvref_t<decltype(decode_sample(decode, samples.front(),
                                                           std::declval<at::Generator&>()))>>
        examples;
    examples.reserve(samples.size());
    for (const TarSample& sample : samples) {
      at::Generator generator = sample.generator();
      examples.push_back(decode_sample(decode, sample, generator));
    }
    return DefaultCollate{}(std::move(examples));
  }
};

}  // namespace muster
