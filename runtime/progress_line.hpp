#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

/// What a progress line tells.
struct ProgressView {
  std::string_view title = {};
  std::int64_t done = 0;
  std::int64_t total = 0;  ///< 0: unknown.
  std::int64_t samples = 0;
  double seconds = 0;
  std::string_view unit = "samples";
  std::string_view note = {};
  bool finished = false;
};

/// How it can be drawn.
struct ProgressStyle {
  bool bar = true;  ///< Off: plain text, for a log.
  bool utf8 = true;
  bool colour = false;
  int width = 80;  ///< Columns; a longer line is cut. 0: no limit.
};

/// One line, without a newline or control characters other than those of its colour.
std::string progress_line(const ProgressView& view, const ProgressStyle& style);

/// Three digits and an SI prefix: 31234 -> "31.2 k", 0.5 -> "0.50".
std::string si_number(double value);

/// "0:04", "12:30", "1:02:03".
std::string duration_text(double seconds);

/// The columns that UTF-8 text takes, one a code point.
int text_columns(std::string_view text) noexcept;

}  // namespace muster
