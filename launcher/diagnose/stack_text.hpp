#pragma once

#include "diagnose/hang_facts.hpp"

#include <string>
#include <vector>

namespace muster::launcher {

/// A rank's stack for people, a call or thread a line.
struct StackText {
  std::vector<std::string> calls;   ///< Of the first thread, the innermost first.
  std::vector<std::string> others;  ///< Where the other threads are, the most usual first.
};

/// Without what every program begins with, and without the calls in which our runtime only waits to
/// be looked at. Of Python what py-spy told, in place of the interpreter's own calls. Pure.
StackText stack_text(const RankState& rank);

/// At most `most` of the lines: the first ones, the last ones, and how many are left out. most: at
/// least 2.
std::vector<std::string> shortened(const std::vector<std::string>& lines, std::size_t most);

}  // namespace muster::launcher
