#include "progress_line.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace muster {
namespace {

constexpr int full_bar = 20;
constexpr int least_bar = 4;

bool continues(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U; }

/// The first `columns` code points of `text`.
std::string_view cut(std::string_view text, int columns) {
  std::size_t end = 0;
  while (end < text.size()) {
    if (!continues(text[end]) && columns-- == 0) break;
    ++end;
  }
  return text.substr(0, end);
}

std::string fixed(double value, int digits) {
  std::array<char, 48> text{};
  (void)std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string bar_text(double share, int columns, bool utf8) {
  constexpr std::array<std::string_view, 8> eighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int parts = static_cast<int>(std::clamp(share, 0.0, 1.0) * columns * 8);
  const int whole = parts / 8;
  const std::string_view rest = utf8 ? eighths.at(static_cast<std::size_t>(parts % 8)) : "";
  std::string text;
  for (int i = 0; i < whole; ++i) text += utf8 ? "█" : "#";
  text += rest;
  const int blank = columns - whole - (rest.empty() ? 0 : 1);
  return text.append(static_cast<std::size_t>(blank), utf8 ? ' ' : '.');
}

std::string steps_text(const ProgressView& view) {
  std::string text = std::to_string(view.done);
  if (view.total > 0) text += "/" + std::to_string(view.total);
  return text;
}

/// What stands behind the bar, with two spaces before each part.
std::string details(const ProgressView& view) {
  std::string text = steps_text(view);
  if (view.seconds > 0 && view.done > 0) {
    const bool counted = view.samples > 0;
    const auto amount = static_cast<double>(counted ? view.samples : view.done);
    text += "  " + si_number(amount / view.seconds) + " ";
    text += std::string(counted ? view.unit : "steps") + "/s";
  }
  const bool remains = !view.finished && view.done > 0 && view.done < view.total;
  if (remains) {
    const double a_step = view.seconds / static_cast<double>(view.done);
    text += "  " + duration_text(a_step * static_cast<double>(view.total - view.done)) + " left";
  }
  if (!view.note.empty()) text.append("  ").append(view.note);
  return text;
}

std::string printable(std::string_view text) {
  std::string kept(text);
  std::replace_if(
      kept.begin(), kept.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return kept;
}

}  // namespace

int text_columns(std::string_view text) noexcept {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string si_number(double value) {
  constexpr std::array<std::string_view, 6> prefixes = {"", " k", " M", " G", " T", " P"};
  std::size_t prefix = 0;
  while (value >= 999.5 && prefix + 1 < prefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fixed(value, digits).append(prefixes.at(prefix));
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::clamp(std::ceil(seconds), 0.0, 1e15));
  const auto two = [](std::int64_t number) {
    return (number < 10 ? "0" : "") + std::to_string(number);
  };
  const std::int64_t minutes = whole / 60;
  if (minutes < 60) return std::to_string(minutes) + ":" + two(whole % 60);
  return std::to_string(minutes / 60) + ":" + two(minutes % 60) + ":" + two(whole % 60);
}

std::string progress_line(const ProgressView& view, const ProgressStyle& style) {
  const std::string title = printable(view.title);
  const std::string behind = printable(details(view));
  std::string head = title + (title.empty() ? "" : "  ");
  const int limit = style.width > 0 ? style.width : 1 << 20;
  const int room = limit - text_columns(head) - text_columns(behind) - 1;
  const int columns = std::min(room, full_bar);
  if (!style.bar || view.total <= 0 || columns < least_bar) {
    return std::string(cut(head + behind, limit));
  }
  const double share = static_cast<double>(view.done) / static_cast<double>(view.total);
  const std::string bar = bar_text(share, columns, style.utf8);
  return head + (style.colour ? "\x1b[36m" + bar + "\x1b[0m" : bar) + " " + behind;
}

}  // namespace muster
