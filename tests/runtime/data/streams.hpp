#pragma once

#include "data/index_stream.hpp"
#include "data/item_stream.hpp"

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

inline std::int64_t number_of(const Item& item) {
  return *static_cast<const std::int64_t*>(item.get());
}

/// The numbers 0, 1, ..., as a stream.
inline StreamLoading numbers(std::int64_t samples) {
  StreamLoading stream;
  stream.open = [samples](const EpochStart&, std::size_t) -> ItemFunction {
    return [samples, next = std::int64_t{0}]() mutable -> Item {
      return next == samples ? nullptr : std::make_shared<std::int64_t>(next++);
    };
  };
  return stream;
}

inline std::vector<IndexBatch> all_of(IndexStream& stream) {
  std::vector<IndexBatch> batches;
  while (auto batch = stream.next()) batches.push_back(std::move(*batch));
  return batches;
}

/// The same of the numbers as a stream.
inline std::vector<IndexBatch> collect_stream(std::int64_t samples,
                                              const DataLoaderOptions& options, Shard shard,
                                              const StreamStart& start = {}) {
  return all_of(*open_item_stream(numbers(samples), options, shard, start, {}));
}

/// The batches of all ranks.
inline std::vector<IndexBatch> collect_dispatch(std::int64_t samples,
                                                const DataLoaderOptions& options, int ranks,
                                                const StreamStart& start = {}) {
  return all_of(*open_dispatch(samples, options, ranks, start));
}

/// "[0 1 2][6 7 8]"
inline std::string text(const std::vector<IndexBatch>& batches) {
  std::string text;
  for (const IndexBatch& batch : batches) {
    std::string numbers;
    for (const std::int64_t index : batch.indices) {
      numbers += (numbers.empty() ? "" : " ") + std::to_string(index);
    }
    for (const Item& item : batch.items) {
      numbers += (numbers.empty() ? "" : " ") + std::to_string(number_of(item));
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
