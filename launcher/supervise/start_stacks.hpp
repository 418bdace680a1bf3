#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace muster::launcher {

/// Stacks for children that run in their parent's memory until they execute their programs. They
/// must be kept until all have.
class StartStacks {
 public:
  StartStacks() = default;
  /// None where such children are not to be had: under sanitizers and valgrind, on machines that
  /// `raw_call` does not know, or without memory.
  explicit StartStacks(std::size_t count);

  /// Empty if there is none.
  std::span<std::byte> of(std::size_t child) const noexcept;

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* memory) const noexcept;
  };
  std::unique_ptr<std::byte, Unmap> memory_;
};

}  // namespace muster::launcher
