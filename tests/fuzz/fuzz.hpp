#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace muster::fuzz {

/// The one function of a fuzz target: 0 for an input that was taken, 1 for one that was refused as
/// it should be. A crash, an endless loop or a broken promise ends the process.
int try_input(std::string_view input);

/// The words of a command line, a line each.
inline std::vector<std::string> words_of(std::string_view input) {
  std::vector<std::string> words(1);
  for (const char letter : input) {
    if (letter == '\n') {
      words.emplace_back();
    } else if (letter != '\0') {
      words.back() += letter;
    }
  }
  return words;
}

/// A promise that no input may break.
inline void require(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "broken: %s\n", promise);
  std::abort();
}

}  // namespace muster::fuzz
