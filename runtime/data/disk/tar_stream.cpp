#include "data/disk/tar_samples.hpp"
#include "data/mixed.hpp"
#include "data/sample_order.hpp"

#include <random>
#include <string>
#include <utility>

namespace muster {
namespace {

/// One epoch of a TarStream.
class TarReader {
 public:
  /// `seed` is that of the epoch.
  TarReader(std::vector<std::filesystem::path> shards, std::int64_t buffer, std::uint64_t seed,
            int rank)
      : shards_(std::move(shards)),
        buffer_(static_cast<std::size_t>(buffer)),
        seed_(seed),
        random_(mixed(seed + static_cast<std::uint64_t>(rank))) {}

  std::optional<TarSample> next() {
    while (waiting_.size() < buffer_) {
      std::optional<TarSample> sample = read();
      if (!sample) break;
      waiting_.push_back(std::move(*sample));
    }
    if (waiting_.empty()) return buffer_ == 0 ? read() : std::nullopt;
    std::swap(waiting_[random_() % waiting_.size()], waiting_.back());
    std::optional<TarSample> drawn = std::move(waiting_.back());
    waiting_.pop_back();
    return drawn;
  }

 private:
  std::optional<TarSample> read() {
    while (true) {
      if (!file_) {
        if (shard_ == shards_.size()) return {};
        file_ = std::make_shared<const MappedFile>(shards_[shard_++]);
        offset_ = 0;
      }
      if (std::optional<TarSample> sample = read_tar_sample(file_, offset_)) {
        sample->set_seed(seed_);
        return sample;
      }
      file_.reset();
    }
  }

  std::vector<std::filesystem::path> shards_;
  std::size_t buffer_;
  std::uint64_t seed_;
  std::mt19937_64 random_;
  std::size_t shard_ = 0, offset_ = 0;
  std::shared_ptr<const MappedFile> file_;
  std::vector<TarSample> waiting_;
};

}  // namespace

TarStream::TarStream(std::vector<std::filesystem::path> shards, TarStreamOptions options)
    : shards_(std::move(shards)), options_(options) {
  if (shards_.empty()) throw ConfigError("TarStream: no shards were given");
  if (options_.shuffle_buffer < 0) {
    throw ConfigError("TarStream: shuffle_buffer is " + std::to_string(options_.shuffle_buffer) +
                      "; expected 0 or more samples");
  }
}

std::function<std::optional<TarSample>()> TarStream::operator()(const EpochStart& start) const {
  const std::uint64_t seed = mixed(mixed(static_cast<std::uint64_t>(start.seed)) +
                                   static_cast<std::uint64_t>(start.epoch));
  const auto shards = static_cast<std::int64_t>(shards_.size());
  if (shards < start.shard.count) {
    throw ConfigError("TarStream: " + std::to_string(shards) + " shards cannot be dealt to " +
                      std::to_string(start.shard.count) +
                      " ranks: write more, smaller ones, or leave out DataLoaderOptions::sharded");
  }
  const SampleOrder order =
      options_.shuffle ? SampleOrder::shuffled(shards, seed) : SampleOrder::sequential(shards);
  std::vector<std::filesystem::path> mine;
  for (std::int64_t i = start.shard.index; i < shards; i += start.shard.count) {
    mine.push_back(shards_[static_cast<std::size_t>(order[i])]);
  }
  return [reader = std::make_shared<TarReader>(std::move(mine), options_.shuffle_buffer, seed,
                                               start.shard.index)] { return reader->next(); };
}

}  // namespace muster
