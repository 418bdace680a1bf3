#pragma once

#include <muster/loading.hpp>

#include "data/batch_feed.hpp"
#include "data/dispatch/dispatch_run.hpp"
#include "data/dispatch/messages.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace muster {

/// The side of a rank that gets its batches from rank 0: a thread asks for them ahead.
class ClientRun final : public DispatchRun {
 public:
  ClientRun(const Post& post, Loading loading, const EpochTerms& terms, int ahead,
            std::chrono::milliseconds timeout);

  /// Throws what reading threw on rank 0, as an Error.
  std::optional<LoadedBatch> next();
  void leave() noexcept override;
  bool finished() const noexcept override;

 private:
  void run() noexcept;
  bool wait_for_room();
  bool ask();
  LoadedBatch receive(const Reply& reply) const;
  [[noreturn]] void throw_error(const Reply& reply) const;

  Post post_;
  Loading loading_;
  EpochTerms terms_;
  std::size_t ahead_;
  std::chrono::milliseconds alive_interval_;
  mutable std::mutex mutex_;
  std::condition_variable moved_;
  std::deque<LoadedBatch> ready_;
  std::exception_ptr error_;
  bool ended_ = false, leaving_ = false, finished_ = false;
  std::jthread thread_;  ///< Last: ends first.
};

}  // namespace muster
