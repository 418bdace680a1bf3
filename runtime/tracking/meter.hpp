#pragma once

#include <muster/tracker.hpp>

#include <cstdint>

namespace muster::tracking {

/// How a program goes, from one record to the next.
class Meter {
 public:
  /// Whether `step` is beyond the newest that was measured.
  bool is_new(std::int64_t step) const noexcept { return !begun_ || step > step_; }
  /// system/steps_per_second since the last call, from the second on, and system/memory_mib: what
  /// this process has of the main memory. `seconds`: of a clock that never goes back.
  TrackedItems measure(std::int64_t step, double seconds);

 private:
  bool begun_ = false;
  std::int64_t step_ = 0;
  double seconds_ = 0;
};

/// Bytes of main memory that this process has; -1 if the system does not say.
std::int64_t resident_bytes() noexcept;

}  // namespace muster::tracking
