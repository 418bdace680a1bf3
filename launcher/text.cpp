#include "text.hpp"

#include <algorithm>
#include <cctype>

namespace muster::launcher {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view plain = "-_./=:,+@%^";
  const bool safe = !word.empty() && std::all_of(word.begin(), word.end(), [&](char letter) {
    const bool beyond_ascii = static_cast<unsigned char>(letter) > 127;
    return beyond_ascii || std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
           plain.find(letter) != plain.npos;
  });
  if (safe) return std::string(word);
  std::string text = "'";
  for (const char letter : word)
    text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

std::optional<std::uint64_t> counter(std::string_view text, std::string_view name) {
  for (const auto line : split(text, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() == 2 && words[0] == name) return to_number<std::uint64_t>(words[1]);
  }
  return std::nullopt;
}

std::string_view field(std::string_view text, std::string_view key) {
  for (const auto line : split(text, '\n')) {
    if (!line.starts_with(key)) continue;
    const auto rest = trim(line.substr(key.size()));
    if (rest.starts_with(':')) return trim(rest.substr(1));
  }
  return {};
}

}  // namespace muster::launcher
