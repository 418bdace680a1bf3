#pragma once

#include <muster/setting.hpp>

#include "wizard/facts.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

using SettingValues = std::map<const Setting*, Value>;

/// What the wizard asks next.
struct Question {
  const Setting* setting = nullptr;
  std::string text;         ///< "Ranks?"
  std::string explanation;  ///< One line.
  Value offer;              ///< What an empty answer takes.
};

/// The wizard without a terminal: from facts, the values of the present file and answers, to
/// settings. It asks what has a question in the settings table, in the order in which one answer
/// may close the next question, and only what is open.
class Interview {
 public:
  Interview(WizardFacts facts, SettingValues present)
      : facts_(std::move(facts)), present_(std::move(present)) {}

  /// Answers a setting before it is asked, whatever this machine has: the file may be for another.
  /// Throws ConfigError if what decides the same thing was given already.
  void give(const Setting& setting, const Value& value);

  /// Nothing once all is answered.
  std::optional<Question> next() const;

  /// Answers what next() asks; an empty text takes the offer. Throws ConfigError for what is no
  /// value of the setting, or is none on this machine; the question then stays open, or an earlier
  /// one is open again.
  void answer(std::string_view text);

  /// What the file has to say in the end: what was given and answered, but for what the file says
  /// already, and for defaults in a file that does not name them.
  std::vector<std::pair<const Setting*, Value>> to_write() const;

  const WizardFacts& facts() const noexcept { return facts_; }
  const SettingValues& present() const noexcept { return present_; }
  const SettingValues& answers() const noexcept { return answers_; }
  /// Defaults, the present file and the answers, the later winning; a group's answer clears the
  /// others of it.
  Settings settings() const;

 private:
  bool is_closed(const Setting& setting) const;
  const Value* said_by(const Setting& row) const;

  WizardFacts facts_;
  SettingValues present_, answers_;
};

}  // namespace muster::launcher
