#pragma once

#include "screen/screen.hpp"
#include "wizard/interview.hpp"
#include "wizard/line_reader.hpp"

#include <string>

namespace muster::launcher {

/// The question as it is shown, with the offer at its end and room for an answer behind it: one
/// line if the screen is wide enough.
std::string question_text(const Question& question, const Screen& screen);

/// What was found, which file will be written, and that nothing is lost yet.
std::string opening_text(const std::string& found, const std::string& file, const Screen& screen,
                         bool terminal);

/// Takes every offer. Throws ConfigError if one cannot be taken.
void take_offers(Interview& interview);

/// Asks on stderr and reads answers until none is open. On a terminal a wrong answer is asked for
/// again; elsewhere it throws ConfigError, and so do answers that nobody asked for. Throws
/// ConfigError too if the input ends before the questions do.
void hold_dialogue(Interview& interview, LineReader& input, const Screen& screen, bool terminal);

}  // namespace muster::launcher
