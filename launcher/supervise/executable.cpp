#include "executable.hpp"

#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

/// 0 if the file can be tried.
int error_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return errno == EACCES ? EACCES : ENOENT;
  if (S_ISDIR(status.st_mode)) return EISDIR;
  return ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : EACCES;
}

}  // namespace

FoundExecutable find_executable(const std::string& name, const std::string& search_path) {
  if (name.empty()) return {name, ENOENT};
  if (name.find('/') != std::string::npos) return {name, error_of(name)};
  FoundExecutable best{name, ENOENT};
  std::string_view rest = search_path;
  while (true) {
    const auto colon = rest.find(':');
    const std::string_view folder = rest.substr(0, colon);
    const std::string path = folder.empty() ? "./" + name : std::string(folder) + "/" + name;
    const int error = error_of(path);
    if (error == 0) return {path, 0};
    // A later folder may still have one; if none has, this is the better answer than "not found".
    if (error == EACCES && best.error == ENOENT) best = {path, error};
    if (colon == std::string_view::npos) return best;
    rest.remove_prefix(colon + 1);
  }
}

}  // namespace muster::launcher
