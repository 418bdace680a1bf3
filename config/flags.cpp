#include <muster/error.hpp>
#include <muster/flags.hpp>
#include <muster/nearest.hpp>

#include "text.hpp"

#include <algorithm>

namespace muster {
namespace {

bool is_long(std::string_view flag) { return flag.starts_with("--"); }

bool matches(const CommandFlag& flag, std::string_view name) {
  if (!is_long(name)) return name.size() == 2 && flag.short_flag == name[1];
  return flag.name == name;
}

bool matches(const ForeignFlag& flag, std::string_view name) {
  if (!flag.name.ends_with('*')) return flag.name == name;
  return name.starts_with(flag.name.substr(0, flag.name.size() - 1));
}

/// Exact names come before those with a `*` in the table.
const ForeignFlag* find_foreign(std::string_view name) {
  const auto all = foreign_flags();
  const auto row =
      std::find_if(all.begin(), all.end(), [&](const auto& flag) { return matches(flag, name); });
  return row == all.end() ? nullptr : &*row;
}

void find(FlagWord& word, std::span<const CommandFlag> own) {
  const std::string name = replaced(word.name, '_', '-');
  const auto command =
      std::find_if(own.begin(), own.end(), [&](const auto& flag) { return matches(flag, name); });
  if (command != own.end()) {
    word.command = &*command;
  } else if (const Setting* setting = find_setting_by_flag(name)) {
    word.setting = setting;
  } else {
    word.foreign = find_foreign(name);
  }
}

/// "-n4": the value is what follows the letter. A word such as "-nope" is a mistake, not a value.
bool has_attached_value(std::string_view word) {
  return word.size() > 2 && !is_long(word) && word[2] >= '0' && word[2] <= '9';
}

GivenFlag for_target(std::string_view target, const GivenFlag& flag) {
  const auto equals = target.find('=');
  if (equals == std::string_view::npos) return {std::string(target), flag.value, flag.name};
  return {std::string(target.substr(0, equals)), std::string(target.substr(equals + 1)), flag.name};
}

}  // namespace

bool FlagWord::wants_next() const noexcept {
  if (value) return false;
  if (command) return !command->word.empty() && !command->optional;
  return setting ? setting->takes_value() : foreign && foreign->takes_value;
}

FlagWord look_up(std::string_view text, std::span<const CommandFlag> own) {
  FlagWord word;
  const auto equals = text.find('=');
  word.name = text.substr(0, equals);
  if (equals != std::string_view::npos) word.value = text.substr(equals + 1);
  find(word, own);
  if (word.known() || !has_attached_value(text)) return word;
  FlagWord attached;
  attached.name = text.substr(0, 2);
  find(attached, own);
  if (!attached.wants_next()) return word;
  attached.value = text.substr(2);
  return attached;
}

std::vector<GivenFlag> translate(const GivenFlag& flag, std::vector<std::string>& notes) {
  const FlagWord word = look_up(flag.name);
  if (!word.foreign) return {flag};
  const ForeignFlag& row = *word.foreign;
  if (row.takes_value && !flag.value) throw ConfigError(flag.name + " needs a value");
  switch (row.kind) {
    case ForeignKind::spelling:
    case ForeignKind::constant:
      return {for_target(row.target, flag)};
    case ForeignKind::translation:
      return row.translate(flag, notes);
    case ForeignKind::ignored:
      notes.push_back(flag.name + " has no effect: " + std::string(row.text));
      return {};
    case ForeignKind::refused:
      throw ConfigError(flag.name + ": " + std::string(row.text));
  }
  return {};
}

std::string unknown_flag(std::string_view typed, std::span<const CommandFlag> own) {
  const auto name = replaced(typed.substr(0, typed.find('=')), '_', '-');
  std::vector<std::string> known;
  for (const CommandFlag& flag : own) known.emplace_back(flag.name);
  for (const Setting& setting : settings_table()) known.push_back(setting.flag());
  for (const ForeignFlag& flag : foreign_flags()) {
    const bool usable = flag.kind != ForeignKind::refused && flag.kind != ForeignKind::ignored;
    if (usable && is_long(flag.name)) known.emplace_back(flag.name);
  }
  std::string hint = is_long(name) ? did_you_mean(name, known) : "";
  // A single dash before a long name is the commonest slip.
  const std::string doubled = "-" + name;
  if (!is_long(name) && std::find(known.begin(), known.end(), doubled) != known.end()) {
    hint = "; did you mean " + doubled + "?";
  }
  return "unknown option '" + excerpt(typed.substr(0, typed.find('='))) + "'" + hint;
}

}  // namespace muster
