#include "diagnose/registers.hpp"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

namespace muster::launcher {
namespace {

template <class Set>
bool fetch(pid_t thread, Set& registers) {
  iovec where{&registers, sizeof registers};
  return ::ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &where) == 0 &&
         where.iov_len == sizeof registers;
}

}  // namespace

#if defined(__x86_64__)

bool can_unwind() noexcept { return true; }

std::optional<Registers> read_registers(pid_t thread) {
  user_regs_struct all{};
  if (!fetch(thread, all)) return std::nullopt;
  Registers registers;
  const std::uint64_t in_order[] = {all.rax, all.rdx, all.rcx, all.rbx, all.rsi, all.rdi,
                                    all.rbp, all.rsp, all.r8,  all.r9,  all.r10, all.r11,
                                    all.r12, all.r13, all.r14, all.r15, all.rip};
  for (std::size_t i = 0; i < std::size(in_order); ++i) registers.set(i, in_order[i]);
  registers.pc = all.rip;
  return registers;
}

std::uint64_t without_signature(std::uint64_t address) noexcept { return address; }

#elif defined(__aarch64__)

bool can_unwind() noexcept { return true; }

std::optional<Registers> read_registers(pid_t thread) {
  user_regs_struct all{};
  if (!fetch(thread, all)) return std::nullopt;
  Registers registers;
  for (std::size_t i = 0; i < 31; ++i) registers.set(i, all.regs[i]);
  registers.set(Registers::stack, all.sp);
  registers.pc = all.pc;
  return registers;
}

std::uint64_t without_signature(std::uint64_t address) noexcept {
  constexpr std::uint64_t user = (std::uint64_t{1} << 48U) - 1;
  return address & user;
}

#else

bool can_unwind() noexcept { return false; }

std::optional<Registers> read_registers(pid_t) { return std::nullopt; }

std::uint64_t without_signature(std::uint64_t address) noexcept { return address; }

#endif

}  // namespace muster::launcher
