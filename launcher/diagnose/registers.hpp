#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace muster::launcher {

/// A thread's registers as far as unwinding needs them, by DWARF's numbers.
struct Registers {
  static constexpr std::size_t count = 33;
#if defined(__x86_64__)
  static constexpr std::size_t stack = 7, frame = 6;
#else
  static constexpr std::size_t stack = 31, frame = 29;  // Of AArch64.
#endif

  std::array<std::uint64_t, count> value{};
  std::array<bool, count> known{};
  std::uint64_t pc = 0;

  std::uint64_t sp() const noexcept { return value[stack]; }
  void set(std::size_t number, std::uint64_t to) noexcept {
    value[number] = to;
    known[number] = true;
  }
  void forget(std::size_t number) noexcept { known[number] = false; }
};

/// Whether this build can read the registers and stacks of threads.
bool can_unwind() noexcept;

/// Of a thread that this thread traces and that is stopped; nothing if they cannot be had, or the
/// program is for another kind of machine (32 bits).
std::optional<Registers> read_registers(pid_t thread);

/// An address as it was before it was signed (AArch64); unchanged elsewhere.
std::uint64_t without_signature(std::uint64_t address) noexcept;

}  // namespace muster::launcher
