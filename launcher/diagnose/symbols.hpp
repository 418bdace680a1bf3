#pragma once

#include "diagnose/hang_facts.hpp"
#include "diagnose/memory_map.hpp"
#include "diagnose/remote_memory.hpp"
#include "diagnose/snapshot.hpp"

#include <map>
#include <string>
#include <vector>

namespace muster::launcher {

/// Names for the addresses of frames, from the tables in the files that they lie in. Addresses are
/// collected first, so that each file, which may be of gigabytes, is read once.
class Symbols {
 public:
  /// Sets the frame's module and offset. It must stay where it is until resolve().
  void add(RemoteMemory& memory, const MemoryMap& map, StackFrame& frame);
  /// Sets the functions' names, of as many files as there is time for.
  void resolve(Deadline deadline);

 private:
  struct File {
    std::uint64_t inode = 0;
    std::map<std::uint64_t, std::vector<StackFrame*>> frames;  ///< By offset.
  };
  std::map<std::string, File> files_;
};

/// "at::native::add" for the name that a linker sees: without parameters, and with <> for what is
/// between such.
std::string readable_function(const std::string& symbol);

}  // namespace muster::launcher
