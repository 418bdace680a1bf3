#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// The parts of `text` between separators; empty parts are left out. They point into `text`.
std::vector<std::string_view> split(std::string_view text, char separator);

std::string_view trim(std::string_view text);

/// The whole of `text` as a number; nothing if it is something else.
template <class Number>
std::optional<Number> to_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

/// As one word of a POSIX shell's line: in quotes if it needs them.
std::string shell_quoted(std::string_view word);

/// The number in the line "name 12"; nothing without such a line.
std::optional<std::uint64_t> counter(std::string_view text, std::string_view name);

/// What follows "Key:" on the first line that starts with it, trimmed; empty without such a line.
std::string_view field(std::string_view text, std::string_view key);

}  // namespace muster::launcher
