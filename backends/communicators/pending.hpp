#pragma once

#include <muster/communicator.hpp>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace muster {

class Pending;

/// Whom a waiting thread asks, since it is the one with the time: threads that move data block in
/// the transport.
class Watcher {
 public:
  virtual ~Watcher() = default;
  /// Called every few milliseconds of a wait. Notices lost peers, and fails the group then.
  virtual void probe() noexcept = 0;
  /// `deadline` has passed. Fails the group, so that `pending` ends soon.
  virtual void late(const Pending& pending, std::chrono::milliseconds deadline) noexcept = 0;
};

/// An operation that another thread executes.
class Pending final : public PendingOperation {
 public:
  Pending(Operation operation, std::shared_ptr<Watcher> watcher);

  void wait(std::chrono::milliseconds deadline) override;
  bool done() const noexcept override;

  /// For the executing thread, which alone touches the tensors, until finish() or fail().
  Operation& operation() noexcept { return operation_; }
  /// For any thread: kind, sequence, label and the like, which do not change.
  const Operation& operation() const noexcept { return operation_; }
  std::chrono::milliseconds age() const;

  // The first of these counts. They let go of the tensors.
  void finish() noexcept;
  void fail(const std::string& why) noexcept;
  /// The same, because a deadline has passed for which `missing` did not come.
  void run_out(const std::string& why, std::vector<int> missing) noexcept;
  /// The same, because ranks called what does not belong together.
  void mismatch(const std::string& why) noexcept;

 private:
  void end(std::exception_ptr error) noexcept;

  Operation operation_;
  std::shared_ptr<Watcher> watcher_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::exception_ptr error_;
};

}  // namespace muster
