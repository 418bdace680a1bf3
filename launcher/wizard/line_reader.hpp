#pragma once

#include <optional>
#include <string>

namespace muster::launcher {

/// Lines of a descriptor, one at a time; a person's terminal or a pipe.
class LineReader {
 public:
  explicit LineReader(int fd) : fd_(fd) {}

  /// Blocks for the next line, without its end; nothing at the end of the input. Throws Error if it
  /// cannot be read, or if a line is longer than any answer.
  std::optional<std::string> next();

  /// The first line that was read already, asked for by nobody, and is not blank.
  std::optional<std::string> left_over() const;

 private:
  bool fill();

  int fd_;
  bool ended_ = false;
  std::string buffer_;
};

}  // namespace muster::launcher
