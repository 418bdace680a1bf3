#include <muster/error.hpp>
#include <muster/setting.hpp>

#include "text.hpp"

#include <algorithm>

namespace muster {
namespace {

std::string range_text(const Setting& setting) {
  using Limits = std::numeric_limits<double>;
  const bool low = setting.minimum > Limits::lowest(), high = setting.maximum < Limits::max();
  if (low && high) {
    return " from " + to_text(Value(setting.minimum)) + " to " + to_text(Value(setting.maximum));
  }
  if (low) return " of at least " + to_text(Value(setting.minimum));
  return high ? " of at most " + to_text(Value(setting.maximum)) : "";
}

[[noreturn]] void refuse(const Setting& setting) { throw ConfigError(setting.expectation()); }

Value parse_boolean(const Setting& setting, std::string_view text) {
  const std::string word = lower(text);
  if (word == "true" || word == "yes" || word == "on" || word == "1") return true;
  if (word == "false" || word == "no" || word == "off" || word == "0") return false;
  refuse(setting);
}

Value parse_list(const Setting& setting, std::string_view text) {
  std::vector<std::string> list;
  for (const std::string_view part : split(text, ',')) {
    if (part.empty()) refuse(setting);
    list.emplace_back(part);
  }
  return list;
}

Value parse_item(const Setting& setting, std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) refuse(setting);
  return std::map<std::string, std::string>{
      {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))}};
}

Value parse_by_kind(const Setting& setting, std::string_view text) {
  switch (setting.member.kind) {
    case ValueKind::boolean:
      return parse_boolean(setting, text);
    case ValueKind::integer:
      if (const auto number = whole_number(text)) return *number;
      break;
    case ValueKind::number:
    case ValueKind::seconds:
      if (const auto number = finite_number(text)) return *number;
      break;
    case ValueKind::text:
      return std::string(text);
    case ValueKind::list:
      return parse_list(setting, text);
    case ValueKind::map:
      return parse_item(setting, text);
  }
  refuse(setting);
}

bool in_range(const Setting& setting, double number) {
  return number >= setting.minimum && number <= setting.maximum;
}

bool is_choice(const Setting& setting, std::string_view word) {
  const auto words = split(setting.choices, ' ');
  return words.empty() || std::ranges::find(words, word) != words.end();
}

bool is_good(const Setting& setting, const Value& value) {
  const SettingMember& member = setting.member;
  if (std::holds_alternative<Auto>(value)) return member.allows_auto;
  if (std::holds_alternative<std::monostate>(value)) return member.allows_none;
  switch (member.kind) {
    case ValueKind::boolean:
      return std::holds_alternative<bool>(value);
    case ValueKind::integer: {
      const auto* number = std::get_if<std::int64_t>(&value);
      return number && *number >= member.lowest && *number <= member.highest &&
             in_range(setting, static_cast<double>(*number));
    }
    case ValueKind::number:
    case ValueKind::seconds: {
      const auto* number = std::get_if<double>(&value);
      return number && in_range(setting, *number);
    }
    case ValueKind::text: {
      const auto* text = std::get_if<std::string>(&value);
      return text && text->find('\0') == std::string::npos && is_choice(setting, *text);
    }
    case ValueKind::list: {
      const auto* list = std::get_if<std::vector<std::string>>(&value);
      return list &&
             std::ranges::all_of(*list, [&](const auto& word) { return is_choice(setting, word); });
    }
    case ValueKind::map:
      return std::holds_alternative<std::map<std::string, std::string>>(value);
  }
  return false;
}

std::string kind_text(const Setting& setting) {
  switch (setting.member.kind) {
    case ValueKind::boolean:
      return "true or false";
    case ValueKind::integer:
      return "a whole number" + range_text(setting);
    case ValueKind::number:
      return "a number" + range_text(setting);
    case ValueKind::seconds:
      return "a number of seconds" + range_text(setting);
    case ValueKind::text:
      return setting.choices.empty() ? "text" : alternatives(split(setting.choices, ' '));
    case ValueKind::list:
      return "words with commas between";
    case ValueKind::map:
      return "NAME=VALUE";
  }
  return "";
}

}  // namespace

std::string Setting::id() const { return std::string(section).append(".").append(key); }

std::string Setting::flag() const {
  const bool plain = section == "launch" || section == "train";
  const std::string name = replaced(key, '_', '-');
  return plain ? "--" + name : std::string("--").append(section).append("-").append(name);
}

std::string Setting::variable() const {
  if (member.kind == ValueKind::map) return "";
  return "MUSTER_" + upper(section) + "_" + upper(key);
}

Value Setting::default_value() const { return member.read(Settings{}); }

std::string Setting::expectation() const {
  std::string text = expects.empty() ? kind_text(*this) : std::string(expects);
  if (member.allows_auto) text += ", or auto";
  if (member.allows_none) text += ", or none";
  return text;
}

Value parse_value(const Setting& setting, std::string_view text) {
  Value value;
  if (setting.member.allows_auto && text == "auto") {
    value = Auto{};
  } else if (!(setting.member.allows_none && text == "none")) {
    value = parse_by_kind(setting, text);
  }
  check_value(setting, value);
  return value;
}

void check_value(const Setting& setting, const Value& value) {
  const bool special =
      std::holds_alternative<Auto>(value) || std::holds_alternative<std::monostate>(value);
  if (!is_good(setting, value)) refuse(setting);
  if (!special && setting.check && !setting.check(value)) refuse(setting);
}

}  // namespace muster
