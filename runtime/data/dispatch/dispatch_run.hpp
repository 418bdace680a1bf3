#pragma once

namespace muster {

/// One rank's side of an epoch that rank 0 reads for all. Lives until its threads have ended, which
/// may be after the loop that began it.
class DispatchRun {
 public:
  virtual ~DispatchRun() = default;
  DispatchRun(const DispatchRun&) = delete;
  DispatchRun& operator=(const DispatchRun&) = delete;

  /// The program's loop has ended, wherever in the epoch.
  virtual void leave() noexcept = 0;
  /// No thread of it is at work any more.
  virtual bool finished() const noexcept = 0;

 protected:
  DispatchRun() = default;
};

}  // namespace muster
