#include "start_stacks.hpp"

#include "supervise/raw_call.hpp"

#include <cstdlib>
#include <string_view>
#include <sys/mman.h>

namespace muster::launcher {
namespace {

/// Of which a child touches one page or two.
constexpr std::size_t stack_bytes = 16384;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;  // It keeps notes on each stack, which a child would spoil.
#else
constexpr bool sanitized = false;
#endif

/// Valgrind ends a program that starts such a child.
bool in_valgrind() {
  const char* preloaded = std::getenv("LD_PRELOAD");
  return preloaded && std::string_view(preloaded).find("vgpreload") != std::string_view::npos;
}

/// Without it a child closes descriptors by means that write errno.
bool has_close_range() { return raw_call(SYS_close_range, ~0U, ~0U, 0) == 0; }

}  // namespace

StartStacks::StartStacks(std::size_t count) {
  if (!raw_calls_are_bare || sanitized || in_valgrind() || !has_close_range()) return;
  void* memory = ::mmap(nullptr, count * stack_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return;
  memory_ = {static_cast<std::byte*>(memory), {count * stack_bytes}};
}

void StartStacks::Unmap::operator()(std::byte* memory) const noexcept { ::munmap(memory, bytes); }

std::span<std::byte> StartStacks::of(std::size_t child) const noexcept {
  if (!memory_) return {};
  return {memory_.get() + child * stack_bytes, stack_bytes};
}

}  // namespace muster::launcher
