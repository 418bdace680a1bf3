#pragma once

#include "wizard/interview.hpp"

#include <span>
#include <string>
#include <string_view>

namespace muster::launcher {

/// What makes one question more than a row of the settings table. Each function may be null: then
/// the question is open, offers what the file says or else the default, is explained by the row's
/// help, and takes all that the row takes.
struct QuestionRule {
  std::string_view id;
  bool (*open)(const Interview&) = nullptr;
  Value (*offer)(const Interview&) = nullptr;
  std::string (*explain)(const Interview&) = nullptr;
  /// Throws ConfigError for what this machine, or an earlier answer, does not allow.
  void (*check)(const Interview&, const Value&) = nullptr;
  /// Where such an answer undoes an earlier one: that one's setting.
  std::string_view undoes = "";
};

/// In the order in which they are asked; rows without a rule come after them.
std::span<const QuestionRule> question_rules();

}  // namespace muster::launcher
