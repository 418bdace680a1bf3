#pragma once

#include "data/index_stream.hpp"

#include <string>
#include <vector>

namespace muster::test {

/// All batches of one rank in an epoch.
inline std::vector<IndexBatch> collect(std::int64_t samples, const DataLoaderOptions& options,
                                       Shard shard, const StreamStart& start = {}) {
  std::vector<IndexBatch> batches;
  const auto stream = open_stream(samples, options, shard, start);
  while (auto batch = stream->next()) batches.push_back(std::move(*batch));
  return batches;
}

/// "[0 1 2][6 7 8]"
inline std::string text(const std::vector<IndexBatch>& batches) {
  std::string text;
  for (const IndexBatch& batch : batches) {
    std::string numbers;
    for (const std::int64_t index : batch.indices) {
      numbers += (numbers.empty() ? "" : " ") + std::to_string(index);
    }
    text += "[" + numbers + "]";
  }
  return text;
}

inline std::string text(std::int64_t samples, const DataLoaderOptions& options, Shard shard,
                        const StreamStart& start = {}) {
  return text(collect(samples, options, shard, start));
}

}  // namespace muster::test
