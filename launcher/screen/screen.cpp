#include "screen/screen.hpp"

#include <muster/error.hpp>
#include <muster/write_all.hpp>

#include "screen/patient_write.hpp"
#include "text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <sys/ioctl.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

bool is_set(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found != environment.end() && !found->second.empty();
}

}  // namespace

Screen Screen::of(int fd, const Environment& environment) {
  Screen screen;
  if (::isatty(fd) == 0) return screen;
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) screen.width = size.ws_col;
  screen.colour = may_colour(environment);
  return screen;
}

bool Screen::may_colour(const Environment& environment) {
  const auto term = environment.find("TERM");
  const bool dumb = term == environment.end() || term->second == "dumb";
  return !dumb && !is_set(environment, "NO_COLOR");
}

std::string Screen::paint(std::string_view code, std::string_view text) const {
  if (!colour) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

void print_out(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == 0 || error == EPIPE) return;
  throw Error(fmt::format("cannot write to stdout: {}", std::strerror(error)));
}

void print_error(std::string_view text) {
  // A person who has stopped the terminal (Ctrl-S) may want to read on.
  const std::chrono::seconds patience{::isatty(STDERR_FILENO) == 1 ? 60 : 5};
  write_patiently(STDERR_FILENO, text, patience);
}

void complain(std::string_view message, const Environment& environment) {
  const auto screen = Screen::of(STDERR_FILENO, environment);
  std::string text;
  // A line that is indented goes on with the one before.
  for (const auto line : split(message, '\n')) {
    text += (line.starts_with(' ') ? "" : screen.red("muster:") + " ") + std::string(line) + "\n";
  }
  print_error(text);
}

int columns_of(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  }));
}

std::string padded(std::string_view text, int columns) {
  const auto missing = std::max(0, columns - columns_of(text));
  return std::string(text) + std::string(static_cast<std::size_t>(missing), ' ');
}

std::string wrapped(std::string_view text, int width, int indent) {
  constexpr int least_room = 30;  // However narrow the screen.
  const int room = std::max(width - indent, least_room);
  std::string lines;
  int used = 0;
  for (const auto word : split(text, ' ')) {
    const int columns = columns_of(word);
    if (used > 0 && used + 1 + columns > room) {
      lines += "\n" + std::string(static_cast<std::size_t>(indent), ' ');
      used = 0;
    } else if (used > 0) {
      lines += ' ';
      ++used;
    }
    lines += word;
    used += columns;
  }
  return lines;
}

std::string duration_text(double seconds) {
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string bytes_text(double bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  const bool whole = bytes == std::floor(bytes) || bytes >= 100;
  return whole ? fmt::format("{:.0f} {}", bytes, units[unit])
               : fmt::format("{:.1f} {}", bytes, units[unit]);
}

}  // namespace muster::launcher
