#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// The parts between separators; "" has none, "a,,b" has three.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The whole of `text` as a number; nothing if it is anything else, or too large.
std::optional<std::int64_t> whole_number(std::string_view text);
std::optional<std::uint64_t> natural_number(std::string_view text);
std::optional<double> finite_number(std::string_view text);

/// Digits only, and few enough for an int.
bool is_number(std::string_view text);

std::string lower(std::string_view text);
std::string upper(std::string_view text);
std::string replaced(std::string_view text, char from, char to);

/// "a, b or c"
std::string alternatives(const std::vector<std::string_view>& words);

/// Lines joined by newlines, without one at the end.
std::string join_lines(const std::vector<std::string>& lines);

/// At most `limit` bytes on one line, for messages: odd letters are replaced, a cut is marked.
std::string excerpt(std::string_view text, std::size_t limit = 60);

}  // namespace muster
