#include "screen/printable.hpp"

namespace muster::launcher {
namespace {

constexpr char32_t none = 0xffffffff;

/// How many bytes the letter that begins with `first` has in UTF-8; 0: no letter begins so.
std::size_t size_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/// The letter that `bytes` are, if they are one whole letter.
char32_t letter_in(std::string_view bytes) {
  constexpr char32_t bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto size = bytes.size();
  auto letter = static_cast<unsigned char>(bytes[0]) & bits[size];
  for (const char byte : bytes.substr(1)) {
    const auto more = static_cast<unsigned char>(byte);
    if ((more & 0xc0U) != 0x80U) return none;
    letter = letter << 6U | (more & 0x3fU);
  }
  const bool is_half_a_pair = letter >= 0xd800 && letter < 0xe000;
  return letter < least[size] || letter > 0x10ffff || is_half_a_pair ? none : letter;
}

bool obeyed_by_terminals(char32_t letter) {
  return letter < ' ' || (letter >= 0x7f && letter < 0xa0);
}

}  // namespace

std::string printable(std::string_view text, std::size_t limit) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto size = size_of(static_cast<unsigned char>(text[at]));
    const bool whole = size != 0 && size <= text.size() - at;
    const auto letter = whole ? letter_in(text.substr(at, size)) : none;
    const auto bytes = letter == none ? 1 : size;
    const bool shown = letter != none && !obeyed_by_terminals(letter);
    if (result.size() + (shown ? bytes : 1) > limit) break;
    if (shown) {
      result += text.substr(at, bytes);
    } else {
      result += '?';
    }
    at += bytes;
  }
  return result;
}

}  // namespace muster::launcher
