#include "wizard/interview.hpp"

#include <muster/error.hpp>

#include "text.hpp"
#include "wizard/rules.hpp"

#include <algorithm>

namespace muster::launcher {
namespace {

const QuestionRule plain{};

const QuestionRule& rule_of(const Setting& setting) {
  const auto rules = question_rules();
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [&](const auto& rule) { return rule.id == setting.id(); });
  return found == rules.end() ? plain : *found;
}

/// All rows with a question, those with a rule first.
std::vector<const Setting*> in_order() {
  std::vector<const Setting*> rows;
  for (const auto& rule : question_rules()) rows.push_back(find_setting_by_id(rule.id));
  for (const auto& row : settings_table()) {
    if (std::find(rows.begin(), rows.end(), &row) == rows.end()) rows.push_back(&row);
  }
  std::erase_if(rows, [](const Setting* row) { return row == nullptr || row->question.empty(); });
  return rows;
}

bool allows(const Interview& interview, const QuestionRule& rule, const Value& value) {
  if (rule.check == nullptr) return true;
  try {
    rule.check(interview, value);
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

Value offer_for(const Interview& interview, const Setting& setting) {
  const auto& rule = rule_of(setting);
  const auto present = interview.present().find(&setting);
  if (rule.offer != nullptr) return rule.offer(interview);
  // What the file says may not be there any more.
  const bool usable =
      present != interview.present().end() && allows(interview, rule, present->second);
  return usable ? present->second : setting.default_value();
}

/// A text without a value has no word of its own.
bool is_no_text(const Setting& setting, std::string_view text) {
  return text == "none" && setting.default_value() == Value(std::string());
}

Value parse_answer(const Setting& setting, std::string_view text) {
  if (is_no_text(setting, text)) return std::string();
  if (setting.member.kind == ValueKind::boolean && (text == "y" || text == "n")) return text == "y";
  return parse_value(setting, text);
}

}  // namespace

void Interview::give(const Setting& setting, const Value& value) {
  if (const auto* added = std::get_if<std::map<std::string, std::string>>(&value)) {
    const auto found = answers_.try_emplace(&setting, value).first;
    auto& map = std::get<std::map<std::string, std::string>>(found->second);
    for (const auto& [name, text] : *added) map[name] = text;
    return;
  }
  for (const auto& [other, said] : answers_) {
    if (other == &setting || setting.group.empty() || other->group != setting.group) continue;
    if (said == Value(false) || value == Value(false)) continue;  // Leaves it to the other.
    throw ConfigError(setting.id() + " and " + other->id() +
                      " decide the same thing: give one of them");
  }
  answers_[&setting] = value;
}

bool Interview::is_closed(const Setting& setting) const {
  return std::any_of(answers_.begin(), answers_.end(), [&](const auto& answer) {
    const auto& group = answer.first->group;
    return answer.first == &setting || (!group.empty() && group == setting.group);
  });
}

std::optional<Question> Interview::next() const {
  for (const auto* setting : in_order()) {
    const auto& rule = rule_of(*setting);
    if (is_closed(*setting) || (rule.open != nullptr && !rule.open(*this))) continue;
    return Question{setting, std::string(setting->question),
                    rule.explain != nullptr ? rule.explain(*this) : std::string(setting->help),
                    offer_for(*this, *setting)};
  }
  return std::nullopt;
}

void Interview::answer(std::string_view text) {
  const auto question = next();
  if (!question) throw Error("an answer to no question");
  const auto& setting = *question->setting;
  const auto& rule = rule_of(setting);
  const auto word = trim(text);
  Value value = question->offer;
  if (!word.empty()) {
    try {
      value = parse_answer(setting, word);
    } catch (const ConfigError& error) {
      throw ConfigError("expected " + std::string(error.what()));
    }
  }
  try {
    if (rule.check != nullptr) rule.check(*this, value);
  } catch (const ConfigError&) {
    if (!rule.undoes.empty()) answers_.erase(find_setting_by_id(rule.undoes));
    throw;
  }
  answers_[&setting] = std::move(value);
}

Settings Interview::settings() const {
  Settings settings;
  for (const auto& row : settings_table()) {
    const auto given = answers_.find(&row), present = present_.find(&row);
    if (given != answers_.end()) {
      row.member.write(settings, given->second);
    } else if (present != present_.end() && !is_closed(row)) {
      row.member.write(settings, present->second);
    }
  }
  return settings;
}

/// What the file says about what the row decides: its own value, or that of another of its group.
const Value* Interview::said_by(const Setting& row) const {
  if (const auto own = present_.find(&row); own != present_.end()) return &own->second;
  if (row.group.empty()) return nullptr;
  const auto other = std::find_if(present_.begin(), present_.end(),
                                  [&](const auto& one) { return one.first->group == row.group; });
  return other == present_.end() ? nullptr : &other->second;
}

std::vector<std::pair<const Setting*, Value>> Interview::to_write() const {
  std::vector<std::pair<const Setting*, Value>> all;
  for (const auto& row : settings_table()) {
    const auto given = answers_.find(&row);
    if (given == answers_.end()) continue;
    const auto* said = said_by(row);
    if (given->second == (said != nullptr ? *said : row.default_value())) continue;
    all.emplace_back(&row, given->second);
  }
  return all;
}

}  // namespace muster::launcher
