#pragma once

#include <string>

namespace muster::launcher {

/// Where a program is, or why it cannot be started (ENOENT, EACCES or EISDIR).
struct FoundExecutable {
  std::string path;
  int error = 0;
};

/// Looks for a program as a shell does: a name with a slash is a path, another one is searched in
/// the folders of `search_path` (PATH's text).
FoundExecutable find_executable(const std::string& name, const std::string& search_path);

}  // namespace muster::launcher
