#pragma once

#include <muster/load_request.hpp>
#include <muster/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace muster {

class PartVisitor;

/// What can be done with the items of a stream.
struct StreamLoading {
  /// Starts an epoch. `batch_size`: samples of one rank's batch.
  std::function<ItemFunction(const EpochStart& start, std::size_t batch_size)> open;
  bool whole_batches = false;  ///< Each item is a batch.
  // Of whole batches.
  std::function<std::int64_t(const Item& item)> rows;  ///< -1: cannot be told.
  std::function<Item(const Item& item)> copy;
};

/// How a data set is read and its batches are handled, for those who do not know their types.
struct Loading {
  std::optional<std::int64_t> samples;  ///< None: a stream.
  LoadFunction load;                    ///< A batch of indices, or of a stream's items.
  StreamLoading stream;
  std::string batch_type;
  /// Null if the type has parts that are not known.
  std::function<void(const std::shared_ptr<void>& batch, PartVisitor& visitor)> visit;
  std::function<std::shared_ptr<void>()> make_empty;
};

}  // namespace muster
