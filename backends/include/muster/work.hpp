#pragma once

#include <c10/core/Stream.h>

#include <chrono>
#include <memory>

namespace muster {

/// An operation under way, as a backend implements it.
class PendingOperation {
 public:
  virtual ~PendingOperation() = default;
  /// Blocks until the result is in the output. Throws CommunicationError when `deadline` passes,
  /// a peer is lost or the group is aborted. May be called again.
  virtual void wait(std::chrono::milliseconds deadline) = 0;
  virtual bool done() const noexcept = 0;
};

/// A handle of an operation. Copies share it; dropping it does not cancel the operation.
class Work {
 public:
  Work() = default;  ///< Already done.
  Work(std::shared_ptr<PendingOperation> pending, std::chrono::milliseconds timeout);

  void wait();  ///< With the communicator's timeout.
  void wait(std::chrono::milliseconds deadline);
  /// Makes what is later put on `stream` see the result. On CPU: waits.
  void order_after(const c10::Stream& stream);
  bool done() const noexcept;

 private:
  std::shared_ptr<PendingOperation> pending_;
  std::chrono::milliseconds timeout_{0};
};

}  // namespace muster
