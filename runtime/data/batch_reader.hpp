#pragma once

#include <muster/load_request.hpp>

#include "data/index_stream.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace muster {

struct ReaderOptions {
  int workers = 0;
  int prefetch = 0;  ///< 0: two a worker.
  std::int64_t seed = 42;
  std::int64_t epoch = 0;
  Shard shard;  ///< For the text of errors.
};

struct LoadedBatch {
  std::shared_ptr<void> batch;
  std::int64_t real_samples = -1;  ///< Of the global batch; -1: all of it.
  std::int64_t samples = 0;        ///< Of this batch.
  bool last = false;
};

/// Loads the batches of a stream, in their order, in the caller's thread or in workers of its own.
/// Used by one thread. At most `prefetch` batches are in work or waiting.
class BatchReader {
 public:
  BatchReader(std::unique_ptr<IndexStream> stream, LoadFunction load, const ReaderOptions& options);
  /// Returns when every worker has ended: each finishes the sample in its hands, or its whole batch
  /// if the data set gives batches.
  ~BatchReader();
  BatchReader(const BatchReader&) = delete;
  BatchReader& operator=(const BatchReader&) = delete;

  /// Blocks until the next batch is there; nothing at the epoch's end. Throws what its load threw,
  /// with the place, or what the stream threw in its place.
  std::optional<LoadedBatch> next();

 private:
  /// A batch on its way. `batch` and `error` are the worker's until `done`, which the mutex guards.
  struct Slot {
    IndexBatch request;
    std::shared_ptr<void> batch;
    std::exception_ptr error;
    bool done = false;
  };

  void load(Slot& slot, const std::stop_token& stop) const;
  void order_ahead();
  void work(const std::stop_token& stop);

  std::unique_ptr<IndexStream> stream_;  ///< Null once it has thrown.
  LoadFunction load_;
  ReaderOptions options_;
  std::mutex mutex_;
  std::condition_variable_any ordered_, loaded_;
  std::deque<std::shared_ptr<Slot>>
      slots_;  ///< In the epoch's order; used by the reading thread only.
  std::deque<std::shared_ptr<Slot>> orders_;  ///< No worker has these yet; guarded by the mutex.
  std::vector<std::jthread> workers_;         ///< Last: ends first.
};

}  // namespace muster
