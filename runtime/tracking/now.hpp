#pragma once

#include <chrono>

namespace muster::tracking {

/// Seconds since 1970.
inline double now() {
  const auto time = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(time).count();
}

}  // namespace muster::tracking
