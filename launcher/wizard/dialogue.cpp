#include "wizard/dialogue.hpp"

#include <muster/error.hpp>

#include "text.hpp"

#include <fmt/core.h>

namespace muster::launcher {
namespace {

std::string offer_text(const Value& offer) {
  if (offer == Value(true)) return "yes";
  if (offer == Value(false)) return "no";
  const auto text = to_text(offer);
  return text.empty() ? "none" : text;
}

/// "Ranks? (launch.num_processes) = x"
std::string answered(const Question& question, const std::string& answer) {
  return fmt::format("{} ({}) = {}", question.text, question.setting->id(),
                     trim(answer).empty() ? offer_text(question.offer) : answer.substr(0, 60));
}

}  // namespace

std::string question_text(const Question& question, const Screen& screen) {
  constexpr int room_for_answer = 6;
  constexpr int indent = 2;
  const auto offer = "[" + offer_text(question.offer) + "] ";
  const int columns = columns_of(question.text) + columns_of(question.explanation) +
                      columns_of(offer) + 2 * indent + room_for_answer;
  if (columns <= screen.width) {
    return screen.bold(question.text) + "  " + question.explanation + "  " + screen.bold(offer);
  }
  const std::string blank(indent, ' ');
  return screen.bold(question.text) + "\n" + blank +
         wrapped(question.explanation, screen.width, indent) + "\n" + blank + screen.bold(offer);
}

std::string opening_text(const std::string& found, const std::string& file, const Screen& screen,
                         bool terminal) {
  const std::string writing =
      "Writing " + file + (terminal ? " (Ctrl-C leaves it as it is)." : ".");
  return wrapped("Found: " + found + ".", screen.width) + "\n" + wrapped(writing, screen.width) +
         "\n\n";
}

void take_offers(Interview& interview) {
  while (const auto question = interview.next()) {
    try {
      interview.answer("");
    } catch (const ConfigError& error) {
      throw ConfigError(answered(*question, "") + ": " + error.what());
    }
  }
}

void hold_dialogue(Interview& interview, LineReader& input, const Screen& screen, bool terminal) {
  while (const auto question = interview.next()) {
    print_error(question_text(*question, screen));
    const auto answer = input.next();
    if (!answer) {
      print_error("\n");
      throw ConfigError("the input ended at '" + question->text +
                        "': nothing was written; --yes takes what is offered");
    }
    if (!terminal) print_error(std::string(trim(*answer)) + "\n");
    try {
      interview.answer(*answer);
    } catch (const ConfigError& error) {
      if (!terminal) throw ConfigError(answered(*question, *answer) + ": " + error.what());
      print_error("  " + wrapped(error.what(), screen.width, 2) + "\n");
    }
  }
  const auto left = terminal ? std::nullopt : input.left_over();
  if (left) {
    throw ConfigError("the input has more answers than there are questions: '" +
                      left->substr(0, 60) + "' answers none; nothing was written");
  }
}

}  // namespace muster::launcher
