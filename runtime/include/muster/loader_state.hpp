#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

/// Where a loader is in its data, to go on from there in another process: DataLoader::state(). It
/// is the same on all ranks and holds for any number of them, as what all ranks together have
/// taken is counted; only of data that is sharded already each rank has its own.
struct LoaderState {
  std::int64_t epoch = 0;
  /// Samples of the epoch that were taken, repeated ones not counted; with a batch_sampler, or a
  /// stream of batches: batches.
  std::int64_t position = 0;
  // What the order follows from; load_state() refuses a state of another.
  std::int64_t seed = 42;
  std::int64_t samples = -1;  ///< -1: a stream.
  bool shuffle = false;

  bool operator==(const LoaderState&) const = default;
  /// "epoch=1 position=640 seed=42 samples=60000 shuffle=1"
  std::string to_text() const;
  /// Throws ConfigError for a text that to_text() did not write.
  static LoaderState from_text(std::string_view text);
};

}  // namespace muster
