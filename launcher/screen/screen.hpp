#pragma once

#include <muster/world.hpp>

#include <string>
#include <string_view>

namespace muster::launcher {

/// Where text for people goes: how wide it is, and whether it shows colour.
struct Screen {
  int width = 80;
  bool colour = false;

  /// Colour only on a terminal, and not with NO_COLOR; the terminal's width, else 80.
  static Screen of(int fd, const Environment& environment);
  /// Whether a terminal would show colour here: TERM is one that can, and NO_COLOR is not set.
  static bool may_colour(const Environment& environment);

  std::string bold(std::string_view text) const { return paint("1", text); }
  std::string dim(std::string_view text) const { return paint("2", text); }
  std::string red(std::string_view text) const { return paint("1;31", text); }

 private:
  std::string paint(std::string_view code, std::string_view text) const;
};

/// Writes all of `text` to stdout; a reader that went away is no error of ours. Throws Error for
/// all else that keeps it from there, such as a full disk.
void print_out(std::string_view text);
/// Writes all of `text` to stderr, if that can be done within some seconds: whatever is wrong
/// there, a launcher must end.
void print_error(std::string_view text);

/// "muster: " before the first line of a message, with a newline at its end, on stderr.
void complain(std::string_view message, const Environment& environment);

/// Columns that `text` takes on a terminal: its code points.
int columns_of(std::string_view text);

/// `text` and spaces up to `columns`.
std::string padded(std::string_view text, int columns);

/// Lines of words, each as wide as `width` allows behind `indent` columns, of which the first is
/// where the cursor is; a word that is wider keeps its line.
std::string wrapped(std::string_view text, int width, int indent = 0);

/// "1.2 s", "3 min 05 s", "250 ms"
std::string duration_text(double seconds);

/// "23.4 GiB", "64 MiB"
std::string bytes_text(double bytes);

}  // namespace muster::launcher
