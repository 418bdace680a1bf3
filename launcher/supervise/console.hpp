#pragma once

#include "supervise/line_assembler.hpp"

#include <string>
#include <string_view>

namespace muster::launcher {

/// One place where the lines of many ranks meet (a terminal, a file): puts the prefixes, and keeps
/// lines whole though they come in parts. Pure: bytes go to a string.
class Console {
 public:
  static constexpr int nobody = -1;

  /// On a terminal a progress bar gives way to another rank's line instead of being left above it.
  explicit Console(bool terminal) : terminal_(terminal) {}

  /// `owner` is a number of the stream that the piece is of.
  void show(int owner, std::string_view prefix, const Piece& piece, std::string& out);
  /// The same for whole lines with their ends and without a CR, while free(): much output is cheap.
  static void show_lines(std::string_view prefix, std::string_view lines, std::string& out);
  /// No line is open.
  bool free() const noexcept { return owner_ == nobody; }
  /// Ends a line that its owner left open.
  void close_line(std::string& out);
  /// Whether another owner's line is so long that it came in parts, and others should wait for its
  /// end.
  bool held_from(int owner) const noexcept { return held_ && owner_ != owner; }
  bool held_by(int owner) const noexcept { return held_ && owner_ == owner; }
  /// Others need not wait any longer.
  void release() noexcept { held_ = false; }

 private:
  void make_room(std::string& out);

  bool terminal_;
  int owner_ = nobody;  ///< Whose line is begun and not ended.
  bool bar_ = false;    ///< It was redrawn.
  bool held_ = false;
};

}  // namespace muster::launcher
