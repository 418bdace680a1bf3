#include <muster/control.hpp>

#include "text.hpp"

#include <array>

namespace muster {
namespace {

using Kind = ControlMessage::Kind;

constexpr std::size_t longest_message = 4096;
constexpr std::size_t longest_reason = 64;
constexpr std::array<std::string_view, 6> kinds{"READY", "STEP",  "CHECKPOINT",
                                                "DEATH", "STUCK", "STACK"};

/// Appends `text` with backslashes for what would end a field or the line, as much as fits; letters
/// of several bytes stay whole.
void append_escaped(std::string& out, std::string_view text, std::size_t limit) {
  std::size_t whole = out.size();
  for (const char letter : text) {
    const bool continues = (static_cast<unsigned char>(letter) & 0xc0) == 0x80;
    if (!continues) whole = out.size();
    std::string_view escape;
    if (letter == '\\') escape = "\\\\";
    if (letter == '\n') escape = "\\n";
    if (letter == ' ') escape = "\\s";
    if (letter == '\0') escape = "\\0";
    if (out.size() + (escape.empty() ? 1 : escape.size()) > limit) {
      out.resize(whole);
      return;
    }
    if (escape.empty()) {
      out += letter;
    } else {
      out += escape;
    }
  }
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      result += text[i];
      continue;
    }
    constexpr std::string_view codes = "\\ns0";
    constexpr std::string_view letters{"\\\n \0", 4};
    const auto code = ++i < text.size() ? codes.find(text[i]) : std::string_view::npos;
    if (code == std::string_view::npos) return std::nullopt;
    result += letters[code];
  }
  return result;
}

std::optional<Kind> kind_of(std::string_view word) {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] == word) return static_cast<Kind>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string encode(const ControlMessage& message) {
  std::string bytes(kinds[static_cast<std::size_t>(message.kind)]);
  bytes += ' ' + std::to_string(message.number) + ' ' + std::to_string(message.monotonic_ns) + ' ';
  append_escaped(bytes, message.reason, bytes.size() + longest_reason);
  bytes += ' ';
  append_escaped(bytes, message.text, longest_message);
  return bytes;
}

std::optional<ControlMessage> decode(std::string_view bytes) {
  if (bytes.size() > longest_message) return std::nullopt;
  const auto fields = split(bytes, ' ');
  if (fields.size() != 5) return std::nullopt;
  const auto kind = kind_of(fields[0]);
  const auto number = natural_number(fields[1]);
  const auto time = whole_number(fields[2]);
  auto reason = unescaped(fields[3]);
  auto text = unescaped(fields[4]);
  if (!kind || !number || !time || !reason || !text) return std::nullopt;
  return ControlMessage{*kind, *number, *time, std::move(*reason), std::move(*text)};
}

}  // namespace muster
