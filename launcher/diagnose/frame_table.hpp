#pragma once

#include "diagnose/memory_map.hpp"
#include "diagnose/remote_memory.hpp"

#include <cstdint>
#include <optional>

namespace muster::launcher {

/// How a function's frames are found, as the compiler wrote it down: one entry of .eh_frame with
/// what it shares with others. Addresses are of the process's memory.
struct FrameEntry {
  std::uint64_t start = 0, end = 0;                      ///< The code that it is about.
  std::uint64_t common = 0, common_end = 0;              ///< Instructions of all that share them.
  std::uint64_t instructions = 0, instructions_end = 0;  ///< Its own.
  std::uint64_t code_factor = 1;
  std::int64_t data_factor = 1;
  std::size_t return_column = 0;
  bool signal = false;  ///< The frame of a signal: what called it is where it was interrupted.
};

/// The entry for the code at `address`. Nothing for code without one: assembly, a compiler at run
/// time.
std::optional<FrameEntry> find_frame_entry(RemoteMemory& memory, const MemoryMap& map,
                                           std::uint64_t address);

/// Addresses of the memory less those in the file at `mapping`; nothing if no ELF file is there.
std::optional<std::uint64_t> load_bias(RemoteMemory& memory, const MemoryMap& map,
                                       const Mapping& mapping);

}  // namespace muster::launcher
