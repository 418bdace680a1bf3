#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace muster {

/// A file that appears whole or not at all: written under another name in the same folder, flushed
/// to the disk and renamed. What killed processes have left in that folder is removed. Not for
/// several threads.
class AtomicFile {
 public:
  /// Throws CheckpointError naming the file, as do all members. A symbolic link is followed.
  explicit AtomicFile(const std::filesystem::path& path);
  /// Removes what was written unless it was committed.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  /// Blocks until the file and its name are on the disk.
  void commit();

 private:
  void create(const std::filesystem::path& folder);
  void check(bool success, const char* step) const;

  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
};

}  // namespace muster
