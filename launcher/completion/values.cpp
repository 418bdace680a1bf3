#include "completion/values.hpp"

#include "text.hpp"

#include <algorithm>
#include <array>

namespace muster::launcher {
namespace {

void add(Completion& completion, std::string_view words) {
  for (const auto word : split(words, ' ')) completion.words.push_back({std::string(word), ""});
}

void add_keys(Completion& completion, std::string_view behind) {
  for (const auto& row : settings_table()) {
    completion.words.push_back({row.id() + std::string(behind), std::string(row.help)});
  }
}

/// The words that a row's own rule names, besides what a person makes up.
void add_known_words(Completion& completion, const Setting& row) {
  constexpr std::array<std::string_view, 6> usual{"all", "any", "auto", "cpu", "cuda", "none"};
  std::string expects(row.expects);
  for (char& letter : expects) letter = letter == ',' || letter == ';' ? ' ' : letter;
  for (const auto word : split(expects, ' ')) {
    const bool known = std::find(usual.begin(), usual.end(), word) != usual.end();
    if (known) completion.words.push_back({std::string(word), ""});
  }
}

Completion values_of_setting(const Setting& row) {
  Completion completion;
  add(completion, row.member.kind == ValueKind::boolean ? "true false" : row.choices);
  if (row.choices.empty()) add_known_words(completion, row);
  if (row.member.allows_auto) add(completion, "auto");
  if (row.member.allows_none) add(completion, "none");
  completion.folders = row.word == "DIR";
  completion.files = row.word == "FILE";
  return completion;
}

/// --set launch.threads=auto
Completion assignment(std::string_view typed) {
  const auto equals = typed.find('=');
  Completion completion;
  if (equals == typed.npos) {
    add_keys(completion, "=");
  } else if (const auto* setting = find_setting_by_id(typed.substr(0, equals))) {
    completion = values_of_setting(*setting);
    for (auto& candidate : completion.words) candidate.word.insert(0, typed.substr(0, equals + 1));
  }
  return completion;
}

Completion values_of_word(std::string_view word) {
  Completion completion;
  completion.files = word == "FILE";
  completion.folders = word == "DIR";
  if (word == "KIND") add(completion, "accelerate deepspeed hostfile");
  if (word.find('|') != word.npos) {
    for (const auto one : split(word, '|')) add(completion, one);
  }
  return completion;
}

}  // namespace

Completion values_of(const FlagWord& flag, std::string_view typed) {
  if (flag.command != nullptr) {
    const auto word = flag.command->word;
    return word == "KEY=VALUE" ? assignment(typed) : values_of_word(word);
  }
  const auto* setting = flag.setting;
  if (flag.foreign != nullptr) setting = find_setting_by_flag(flag.foreign->target);
  return setting != nullptr ? values_of_setting(*setting) : Completion();
}

Completion operand_of(std::string_view command, std::span<const std::string> before) {
  Completion completion;
  const bool first = before.empty();
  if (command == "completion" && first) add(completion, "bash zsh fish");
  if (command == "config check" || command == "config import") completion.files = first;
  if ((command == "config get" || command == "config set") && first) add_keys(completion, "");
  if (command == "config set" && before.size() == 1) {
    const auto* setting = find_setting_by_id(before.front());
    if (setting != nullptr) return values_of_setting(*setting);
  }
  return completion;
}

}  // namespace muster::launcher
