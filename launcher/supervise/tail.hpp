#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// The last lines of a stream, with the time when each came. Bounded, whatever is written.
class Tail {
 public:
  static constexpr std::size_t shown = 20;
  static constexpr std::size_t longest_line = 1000;

  struct Line {
    std::string text;  ///< Cut to longest_line; of a redrawn line its last state.
    std::int64_t monotonic_ns = 0;
  };

  void feed(std::string_view bytes, std::int64_t monotonic_ns);
  bool empty() const noexcept { return count_ == 0 && open_.text.empty(); }
  /// All that are kept, oldest first; the last one may lack its end.
  std::vector<Line> lines() const;
  /// The text of the newest `shown` ones, oldest first.
  std::vector<std::string> last_lines() const;

 private:
  static constexpr std::size_t kept = 64;

  void append(std::string_view part);
  /// The part of much output that may be kept, so that the rest costs little.
  std::string_view skip_old(std::string_view bytes);

  std::array<Line, kept> ring_;
  std::size_t count_ = 0;
  Line open_;
  bool overwrite_ = false;  ///< The open line ended in a CR: what comes replaces it.
};

}  // namespace muster::launcher
