#pragma once

#include <chrono>
#include <cstdint>

namespace muster {

/// What a thread's time went to, in nanoseconds, since it began.
struct TimeSpent {
  std::int64_t data = 0;           ///< Waiting for batches.
  std::int64_t communication = 0;  ///< Waiting for other ranks.
  std::int64_t update = 0;         ///< In optimizers.

  std::int64_t total() const noexcept { return data + communication + update; }
};

/// Of the calling thread.
TimeSpent& time_spent() noexcept;

/// The time of a block, less that of blocks inside it which are counted themselves.
class SpendingTime {
 public:
  explicit SpendingTime(std::int64_t TimeSpent::*on) noexcept
      : on_(on), before_(time_spent().total()), start_(Clock::now()) {}
  ~SpendingTime() {
    const auto elapsed =
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count();
    auto& spent = time_spent();
    spent.*on_ += elapsed - (spent.total() - before_);
  }
  SpendingTime(const SpendingTime&) = delete;
  SpendingTime& operator=(const SpendingTime&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  std::int64_t TimeSpent::*on_;
  std::int64_t before_;
  Clock::time_point start_;
};

}  // namespace muster
