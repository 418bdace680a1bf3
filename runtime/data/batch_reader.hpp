#pragma once

#include <muster/load_request.hpp>

#include "data/batch_feed.hpp"
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
  int prefetch = 0;           ///< 0: two a worker.
  bool workers_read = false;  ///< Workers also call the stream, one at a time; for what takes time.
  std::int64_t seed = 42;
  std::int64_t epoch = 0;
  Shard shard;                 ///< For the text of errors.
  std::stop_source stop = {};  ///< Requested when the reader goes.
};

/// Loads the batches of a stream, in their order, in the caller's thread or in workers of its own.
/// Used by one thread. At most `prefetch` batches are in work or waiting.
class BatchReader : public BatchFeed {
 public:
  BatchReader(std::unique_ptr<IndexStream> stream, LoadFunction load, const ReaderOptions& options);
  /// Returns when every worker has ended: each finishes the sample in its hands, or its whole batch
  /// if the data set gives batches.
  ~BatchReader() override;
  BatchReader(const BatchReader&) = delete;
  BatchReader& operator=(const BatchReader&) = delete;

  /// Blocks until the next batch is there; nothing at the epoch's end. Throws what its load threw,
  /// with the place, or what the stream threw in its place.
  std::optional<LoadedBatch> next() override;

 private:
  /// A batch on its way. `batch` and `error` are the worker's until `done`, which the mutex guards.
  struct Slot {
    IndexBatch request;
    std::shared_ptr<void> batch;
    std::exception_ptr error;
    bool done = false;
  };

  std::shared_ptr<Slot> take();
  void load(Slot& slot, const std::stop_token& stop) const;
  bool order(Slot& slot);
  void order_ahead();
  void work(const std::stop_token& stop);
  void finish(Slot& slot);
  void read_and_work(const std::stop_token& stop);

  std::unique_ptr<IndexStream> stream_;  ///< Null once it has thrown.
  LoadFunction load_;
  ReaderOptions options_;
  std::mutex mutex_;
  std::condition_variable_any ordered_, loaded_, room_;
  std::deque<std::shared_ptr<Slot>> slots_;   ///< In the epoch's order.
  std::deque<std::shared_ptr<Slot>> orders_;  ///< No worker has these yet.
  bool ended_ = false;                        ///< No more slots will come.
  std::mutex reading_;                        ///< Held by the worker that calls the stream.
  std::vector<std::jthread> workers_;         ///< Last: ends first.
};

}  // namespace muster
