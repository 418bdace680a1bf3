#pragma once

#include <string>
#include <sys/types.h>

namespace muster::launcher {

/// A process that dumped core.
struct CoreDump {
  pid_t pid = 0;
  int signal = 0;
  std::string folder;   ///< The working directory it was started in.
  std::string program;  ///< The path of its executable.
  std::string host;
};

/// How this kernel writes core dumps.
struct CorePattern {
  std::string text;       ///< /proc/sys/kernel/core_pattern
  bool adds_pid = false;  ///< /proc/sys/kernel/core_uses_pid

  static CorePattern of_this_host();
};

/// Where it is, for people: a file that is there, a program that has it and how that is asked, or
/// where to look for it.
std::string place_of(const CoreDump& dump, const CorePattern& pattern);

}  // namespace muster::launcher
