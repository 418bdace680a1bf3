#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// One line of /proc/<pid>/maps.
struct Mapping {
  std::uint64_t start = 0, end = 0;
  std::uint64_t offset = 0;  ///< In the file.
  std::uint64_t inode = 0;
  bool executable = false;
  std::string path;  ///< Of a file, or as "[vdso]"; empty: memory without a name.
};

/// What a process has in its memory, in the order of addresses.
class MemoryMap {
 public:
  MemoryMap() = default;
  /// Of the text of /proc/<pid>/maps. Lines that are none are left out.
  static MemoryMap parse(std::string_view text);

  /// Null if nothing is there.
  const Mapping* find(std::uint64_t address) const;
  /// Where the beginning of the file of `mapping` lies; null if it is not in the memory.
  const Mapping* beginning_of(const Mapping& mapping) const;
  bool empty() const noexcept { return mappings_.empty(); }

 private:
  std::vector<Mapping> mappings_;
};

}  // namespace muster::launcher
