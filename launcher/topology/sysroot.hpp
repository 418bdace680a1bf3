#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// A machine's files: those of this host, or a recorded tree of them (/proc, /sys, /dev under a
/// folder). Everything the launcher learns about hardware is read through it.
class Sysroot {
 public:
  explicit Sysroot(std::string root = "/");

  /// True for this host: then system calls may be asked too.
  bool is_live() const noexcept { return root_.empty(); }

  /// Where `path`, absolute within the machine, is found.
  std::string locate(std::string_view path) const;

  /// A file's text without trailing white space, at most `limit` bytes; nothing if it cannot be
  /// read.
  std::optional<std::string> read(std::string_view path, std::size_t limit = 1 << 20) const;

  /// A folder's names in the order of their bytes, without dot files; empty if it cannot be read.
  std::vector<std::string> list(std::string_view path) const;

  /// Where a symbolic link leads, as it is written; nothing if it is none.
  std::optional<std::string> link_target(std::string_view path) const;

  bool exists(std::string_view path) const;

  /// True if this process may open `path` for reading and writing.
  bool may_use(std::string_view path) const;

 private:
  std::string root_;  // Without a trailing slash; empty for this host.
};

/// The NUMA node next to a PCI device ("0000:01:00.0"); -1 where the firmware does not say.
int pci_numa_node(const Sysroot& root, const std::string& pci);

}  // namespace muster::launcher
