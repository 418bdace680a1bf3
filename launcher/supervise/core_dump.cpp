#include "core_dump.hpp"

#include "text.hpp"
#include "topology/sysroot.hpp"

#include <algorithm>
#include <glob.h>
#include <string_view>
#include <unistd.h>

namespace muster::launcher {
namespace {

/// For glob(3), which gives some characters a meaning.
std::string literally(std::string_view text) {
  std::string safe;
  for (const char letter : text) {
    if (std::string_view("*?[]\\").find(letter) != std::string_view::npos) safe += '\\';
    safe += letter;
  }
  return safe;
}

/// The kernel writes '!' for a slash.
std::string without_slashes(std::string path) {
  std::ranges::replace(path, '/', '!');
  return literally(path);
}

/// What stands for %`letter`; "*" for what only the kernel knew, such as the time.
std::string value_of(char letter, const CoreDump& dump) {
  switch (letter) {
    case '%':
      return "%";
    case 'p':
    case 'P':
      return std::to_string(dump.pid);
    case 's':
      return std::to_string(dump.signal);
    case 'u':
      return std::to_string(::getuid());
    case 'g':
      return std::to_string(::getgid());
    case 'h':
      return literally(dump.host);
    case 'E':
      return without_slashes(dump.program);
    default:
      return "*";
  }
}

/// The name as a pattern for glob(3).
std::string file_pattern(const CoreDump& dump, const CorePattern& pattern) {
  std::string name;
  bool has_pid = false;
  const std::string& text = pattern.text;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%' || at + 1 == text.size()) {
      name += literally(text.substr(at, 1));
      continue;
    }
    ++at;
    has_pid = has_pid || text[at] == 'p';
    name += value_of(text[at], dump);
  }
  if (pattern.adds_pid && !has_pid) name += "." + std::to_string(dump.pid);
  return name.starts_with('/') ? name : literally(dump.folder) + "/" + name;
}

/// "|/usr/lib/systemd/systemd-coredump %P %u ..."
std::string at_program(const CoreDump& dump, std::string_view command) {
  const auto program = command.substr(0, command.find(' '));
  const std::string pid = std::to_string(dump.pid);
  if (program.ends_with("systemd-coredump"))
    return "kept by systemd: coredumpctl info " + pid + ", coredumpctl debug " + pid;
  return "handed to " + std::string(program);
}

}  // namespace

CorePattern CorePattern::of_this_host() {
  const Sysroot root;
  return {root.read("/proc/sys/kernel/core_pattern").value_or("core"),
          root.read("/proc/sys/kernel/core_uses_pid").value_or("0") != "0"};
}

std::string place_of(const CoreDump& dump, const CorePattern& pattern) {
  if (pattern.text.starts_with('|'))
    return at_program(dump, trim(std::string_view(pattern.text).substr(1)));
  const std::string name = file_pattern(dump, pattern);
  glob_t found{};
  std::string path;
  // The newest is the last one, where names differ by a time.
  if (::glob(name.c_str(), 0, nullptr, &found) == 0) path = found.gl_pathv[found.gl_pathc - 1];
  ::globfree(&found);
  if (!path.empty()) return path;
  return "written as '" + pattern.text + "', seen from the rank's working directory";
}

}  // namespace muster::launcher
