#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace muster::tracking {

/// A file that grows at its end by whole pieces, so that a program that is killed, or a disk that
/// is full, leaves no half of one. What was written outlives the process; it is not forced to the
/// disk. Throws TrackerError, naming the file.
class LineFile {
 public:
  LineFile() = default;
  /// Makes the file, or keeps the first `keep` bytes of the one that is there.
  LineFile(const std::filesystem::path& path, std::int64_t keep);
  ~LineFile();
  LineFile(LineFile&& other) noexcept;
  LineFile& operator=(LineFile&& other) noexcept;
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  /// All of `piece` in one write, or nothing of it.
  void append(std::string_view piece);
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  [[noreturn]] void fail(const char* doing, int reason) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

/// Puts a file with this text in the place of the one at `path`: at every moment there is the old
/// or the new one. Unlike muster::replace_file it does not wait for the disk, since it is called
/// again and again while a program trains. Throws TrackerError.
void swap_file(const std::filesystem::path& path, std::string_view text);

/// The file's bytes; empty if there is none. Throws TrackerError.
std::string read_whole(const std::filesystem::path& path);

/// "cannot write 'path': reason"
[[noreturn]] void throw_file_trouble(const char* doing, const std::filesystem::path& path,
                                     int reason);

}  // namespace muster::tracking
