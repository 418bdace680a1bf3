#pragma once

#include "unique_fd.hpp"

#include <string>
#include <string_view>

namespace muster::launcher {

/// What one rank writes to its stdout, or its stderr, in a file: the bytes as they came. Writing
/// waits for the disk. After the first error nothing more is written, so that no part is missing
/// in the middle.
class LogFile {
 public:
  LogFile() = default;
  LogFile(UniqueFd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  /// False if this is what failed; true without a file.
  bool write(std::string_view bytes) noexcept;
  /// The errno that ended it; 0: none.
  int error() const noexcept { return error_; }
  const std::string& path() const noexcept { return path_; }

 private:
  UniqueFd file_;
  std::string path_;
  int error_ = 0;
};

}  // namespace muster::launcher
