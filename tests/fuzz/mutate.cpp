#include "fuzz/mutate.hpp"

#include <algorithm>
#include <string_view>

namespace muster::fuzz {
namespace {

/// What means something to one of the parsers.
constexpr std::string_view letters =
    "[]{}()<>=\"'`\\#,.:;/*&|!%@~^?$\n\r\t -+_0189aeZ\x01\x7f\x80\xc3\xa9\xef\xbb\xbf\xff";
constexpr std::size_t longest = 4096;

}  // namespace

std::string Mutator::piece(const std::string& text) {
  if (text.empty()) return "";
  return text.substr(below(text.size()), 1 + below(24));
}

void Mutator::change(std::string& text) {
  const auto at = below(text.size() + 1);
  switch (below(7)) {
    case 0:
      if (at < text.size()) text[at] = letters[below(letters.size())];
      break;
    case 1:
      text.insert(at, 1, letters[below(letters.size())]);
      break;
    case 2:
      text.erase(at, 1 + below(12));
      break;
    case 3:
      text.insert(at, piece(text));
      break;
    case 4:
      text.insert(at, piece(any()));
      break;
    case 5:  // The rest is another's.
      text = text.substr(0, at) + piece(any());
      break;
    default:
      text.insert(at, std::string(1 + below(80), letters[below(letters.size())]));
      break;
  }
}

std::string Mutator::next() {
  auto text = any();
  for (auto changes = 1 + below(3); changes > 0; --changes) change(text);
  return text.substr(0, longest);
}

}  // namespace muster::fuzz
