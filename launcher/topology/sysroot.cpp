#include "topology/sysroot.hpp"

#include "text.hpp"
#include "unique_fd.hpp"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace muster::launcher {

Sysroot::Sysroot(std::string root) : root_(std::move(root)) {
  while (!root_.empty() && root_.back() == '/') root_.pop_back();
}

std::string Sysroot::locate(std::string_view path) const { return root_ + std::string(path); }

std::optional<std::string> Sysroot::read(std::string_view path, std::size_t limit) const {
  const UniqueFd file(::open(locate(path).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::string text;
  char part[4096];
  while (text.size() < limit) {
    const auto got = ::read(file.get(), part, std::min(sizeof part, limit - text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    text.append(part, static_cast<std::size_t>(got));
  }
  text.erase(text.find_last_not_of(" \n\t") + 1);
  return text;
}

std::vector<std::string> Sysroot::list(std::string_view path) const {
  std::vector<std::string> names;
  DIR* folder = ::opendir(locate(path).c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = ::readdir(folder)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  ::closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> Sysroot::link_target(std::string_view path) const {
  char target[4096];
  const auto size = ::readlink(locate(path).c_str(), target, sizeof target);
  if (size < 0) return std::nullopt;
  return std::string(target, static_cast<std::size_t>(size));
}

bool Sysroot::exists(std::string_view path) const {
  return ::access(locate(path).c_str(), F_OK) == 0;
}

bool Sysroot::may_use(std::string_view path) const {
  return ::access(locate(path).c_str(), R_OK | W_OK) == 0;
}

int pci_numa_node(const Sysroot& root, const std::string& pci) {
  const auto text = root.read("/sys/bus/pci/devices/" + pci + "/numa_node");
  return to_number<int>(text.value_or("")).value_or(-1);
}

}  // namespace muster::launcher
