#include "completion/complete.hpp"
#include "fuzz/fuzz.hpp"

#include <string>
#include <vector>

/// A line that is being typed, a word a line; what is offered continues its last word.
int muster::fuzz::try_input(std::string_view input) {
  const auto words = words_of(input);
  const auto completion = launcher::complete(words);
  for (const auto& candidate : completion.words) {
    require(candidate.word.starts_with(words.back()), "a candidate continues the word");
    require(candidate.word.find('\n') == std::string::npos, "a candidate is one line");
  }
  return completion.words.empty() ? 1 : 0;
}
