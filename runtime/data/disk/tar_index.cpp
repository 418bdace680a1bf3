#include "data/disk/tar_samples.hpp"

#include <string>

namespace muster {

TarIndex::TarIndex(const std::vector<std::filesystem::path>& shards) {
  if (shards.empty()) throw ConfigError("TarDataset: no shards were given");
  for (const auto& path : shards) {
    const auto file = std::make_shared<const MappedFile>(path);
    const std::size_t before = places_.size();
    std::size_t offset = 0, begin = 0;
    while (read_tar_sample(file, offset)) {
      places_.push_back({shards_.size(), begin});
      begin = offset;
    }
    if (places_.size() == before) {
      throw DataError(file->name() +
                      ": no sample in it: expected files such as 0001.jpg, 0001.cls");
    }
    shards_.push_back(file);
  }
}

TarSample TarIndex::sample(std::int64_t index) const {
  if (index < 0 || index >= size()) {
    throw ConfigError("TarDataset: sample " + std::to_string(index) + " of " +
                      std::to_string(size()));
  }
  auto [shard, offset] = places_[static_cast<std::size_t>(index)];
  return *read_tar_sample(shards_[shard], offset);
}

}  // namespace muster
