#pragma once

#include <span>
#include <string>
#include <vector>

namespace muster::launcher {

/// A word that may stand where the user is typing.
struct Candidate {
  std::string word;
  std::string help;  ///< One line; may be empty.
  bool operator==(const Candidate&) const = default;
};

/// What may follow.
struct Completion {
  std::vector<Candidate> words;
  bool files = false;     ///< Any file, too.
  bool folders = false;   ///< Any folder, too.
  bool programs = false;  ///< The name of a command, too.
};

/// `words` follow "muster" on a line that is being typed; the last is the one at the cursor, and
/// may be empty. From the tables of commands and settings; never throws for words that make no
/// sense.
Completion complete(std::span<const std::string> words);

}  // namespace muster::launcher
