#pragma once

#include <muster/communicator.hpp>
#include <muster/loading.hpp>

#include "data/batch_feed.hpp"
#include "data/dispatch/dispatch_run.hpp"
#include "data/dispatch/messages.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace muster {

/// Rank 0's side: reads the batches of all ranks, and answers each other rank in a thread of its
/// own. Goes on until every rank has left.
class ServerRun final : public DispatchRun {
 public:
  /// `feed` gives the batches of all ranks in turn.
  ServerRun(Communicator& group, int tag, std::unique_ptr<BatchFeed> feed, Loading loading,
            const EpochTerms& terms);

  /// Rank 0's own next batch.
  std::optional<LoadedBatch> next() { return take(0); }
  void leave() noexcept override { left(0); }
  bool finished() const noexcept override;

 private:
  std::optional<LoadedBatch> take(int rank);
  bool has_room() const;
  void read(std::unique_lock<std::mutex>& lock);
  void left(int rank) noexcept;
  void fail(std::exception_ptr error) noexcept;
  void serve(int rank, const Post& post) noexcept;
  bool answer(int rank, const Post& post, const Request& request);
  void send(const Post& post, LoadedBatch loaded) const;

  Loading loading_;
  EpochTerms terms_;
  mutable std::mutex mutex_;
  std::condition_variable moved_;
  std::unique_ptr<BatchFeed> feed_;  ///< Null once all ranks have left.
  bool reading_ = false, ended_ = false;
  std::exception_ptr error_;
  std::vector<std::deque<LoadedBatch>> ready_;  ///< Per rank: read, not yet given out.
  std::vector<bool> left_;
  std::size_t serving_ = 0;            ///< Threads at work.
  std::vector<std::jthread> threads_;  ///< Last: ends first.
};

}  // namespace muster
