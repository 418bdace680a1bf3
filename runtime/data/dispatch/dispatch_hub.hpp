#pragma once

#include <muster/communicator.hpp>

#include "data/dispatch/dispatch_run.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace muster {

/// The group of ranks over which batches are sent out, apart from the one on which the program
/// communicates. One an Accelerator, for all its loaders; it outlives them, since an epoch that
/// this rank has left may go on for others.
class DispatchHub {
 public:
  explicit DispatchHub(std::unique_ptr<Communicator> group) : group_(std::move(group)) {}
  /// Leaves all epochs. Waits a moment for those that other ranks have not left, then ends them
  /// there too, with CommunicationError.
  ~DispatchHub();
  DispatchHub(const DispatchHub&) = delete;
  DispatchHub& operator=(const DispatchHub&) = delete;

  Communicator& group() const noexcept { return *group_; }
  /// A number for a loader, equal on all ranks that ask in the same order.
  int next_channel() noexcept { return channels_++; }
  /// Keeps a run until it has finished.
  void keep(std::shared_ptr<DispatchRun> run);

 private:
  bool finished();

  std::unique_ptr<Communicator> group_;
  int channels_ = 0;
  std::mutex mutex_;
  std::vector<std::shared_ptr<DispatchRun>> runs_;  ///< After the group: gone before it.
};

}  // namespace muster
