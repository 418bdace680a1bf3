#include "communicators/shm/bell.hpp"

#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace muster::shm {
namespace {

std::uint32_t* word(Bell& bell) noexcept { return reinterpret_cast<std::uint32_t*>(&bell.rung); }

}  // namespace

void disturb(Bell& bell) noexcept {
  syscall(SYS_futex, word(bell), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void ring(Bell& bell) noexcept {
  // In one order with sleep_at(): either it sees the new count, or this sees the sleeper.
  bell.rung.fetch_add(1, std::memory_order_seq_cst);
  if (bell.sleepers.load(std::memory_order_seq_cst) != 0) disturb(bell);
}

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void sleep_at(Bell& bell, std::uint32_t seen, std::chrono::milliseconds limit) noexcept {
  bell.sleepers.fetch_add(1, std::memory_order_seq_cst);
  if (bell.rung.load(std::memory_order_seq_cst) == seen) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
    const timespec time{seconds.count(), (limit - seconds).count() * 1'000'000L};
    syscall(SYS_futex, word(bell), FUTEX_WAIT, seen, &time, nullptr, 0);
  }
  bell.sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

}  // namespace muster::shm
