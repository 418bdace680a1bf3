#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace muster {

/// A file in memory, pages of which are read when they are used. What is written to them stays in
/// this process.
class MappedFile {
 public:
  /// Throws DataError naming the file unless it is a regular one that can be read.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& name() const noexcept { return name_; }
  std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::string name_;
  std::span<std::byte> bytes_;
};

}  // namespace muster
