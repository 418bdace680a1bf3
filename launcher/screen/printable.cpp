#include "screen/printable.hpp"

namespace muster::launcher {

std::string printable(std::string_view text, std::size_t limit) {
  std::string result(text.substr(0, limit));
  for (char& letter : result) {
    const auto code = static_cast<unsigned char>(letter);
    if (code < ' ' || code == 0x7f) letter = '?';
  }
  return result;
}

}  // namespace muster::launcher
