#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace muster::shm {

/// What processes that share memory wait at. All zero to begin with.
struct Bell {
  std::atomic<std::uint32_t> rung;
  std::atomic<std::uint32_t> sleepers;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// Wakes all who wait, for a change that was stored before.
void ring(Bell& bell) noexcept;

/// Wakes all who sleep at it, though nothing has changed: to make them look around.
void disturb(Bell& bell) noexcept;

/// Lets the processor do something else for a moment.
void pause() noexcept;

/// Sleeps unless the bell was rung since it read `seen`, at most `limit`. May wake without cause.
void sleep_at(Bell& bell, std::uint32_t seen, std::chrono::milliseconds limit) noexcept;

/// Waits, at most about `limit`, until `ready()`: looks `spins` times before it sleeps. What makes
/// it so must be followed by ring(). Returns whether it is.
template <class Ready>
bool wait_at(Bell& bell, int spins, std::chrono::milliseconds limit, const Ready& ready) {
  for (int i = 0; i < spins; ++i) {
    if (ready()) return true;
    pause();
  }
  const auto seen = bell.rung.load(std::memory_order_acquire);
  if (ready()) return true;
  sleep_at(bell, seen, limit);
  return ready();
}

}  // namespace muster::shm
