#pragma once

#include <cstdint>
#include <memory>
#include <optional>

namespace muster {

struct LoadedBatch {
  std::shared_ptr<void> batch;
  std::int64_t real_samples = -1;  ///< Of the global batch; -1: all of it.
  std::int64_t samples = 0;        ///< Of this batch; -1: cannot be told.
  bool last = false;
  int rank = 0;               ///< Whose it is.
  std::int64_t number = 0;    ///< Of that rank's, from 0.
  std::int64_t position = 0;  ///< Where the epoch goes on after its round.
};

/// Gives the batches of an epoch in their order. Used by one thread.
class BatchFeed {
 public:
  virtual ~BatchFeed() = default;
  BatchFeed(const BatchFeed&) = delete;
  BatchFeed& operator=(const BatchFeed&) = delete;

  /// Blocks until the next batch is there; nothing at the epoch's end. Throws what loading it
  /// threw.
  virtual std::optional<LoadedBatch> next() = 0;

 protected:
  BatchFeed() = default;
};

}  // namespace muster
