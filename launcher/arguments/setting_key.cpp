#include "arguments/setting_key.hpp"

#include <muster/error.hpp>
#include <muster/nearest.hpp>

#include "screen/printable.hpp"

#include <map>
#include <vector>

namespace muster::launcher {
namespace {

bool is_map(const Setting& setting) { return setting.member.kind == ValueKind::map; }

/// People leave the section out, and know the flag.
std::string hint_for(std::string_view text) {
  if (text.empty()) return "; muster config show lists them";
  std::vector<std::string> known;
  for (const auto& row : settings_table()) {
    if (text == row.key || text == row.flag() || text == row.variable()) {
      return "; did you mean " + row.id() + "?";
    }
    known.push_back(row.id());
  }
  return did_you_mean(text, known);
}

}  // namespace

SettingKey find_key(std::string_view text) {
  if (const auto* setting = find_setting_by_id(text)) return {setting, std::nullopt};
  for (const auto& row : settings_table()) {
    const auto start = row.id() + ".";
    if (is_map(row) && text.starts_with(start) && text.size() > start.size()) {
      return {&row, std::string(text.substr(start.size()))};
    }
  }
  throw ConfigError("no setting '" + printable(text) + "'" + hint_for(text));
}

Value parse_for(const SettingKey& key, std::string_view text) {
  // What may be secret is not repeated.
  const std::string shown = is_map(*key.setting) ? "" : " = " + printable(text);
  try {
    if (!key.item) return parse_value(*key.setting, text);
    Value value = std::map<std::string, std::string>{{*key.item, std::string(text)}};
    check_value(*key.setting, value);
    return value;
  } catch (const ConfigError& error) {
    throw ConfigError(key.setting->id() + shown + ": expected " + error.what());
  }
}

std::pair<const Setting*, Value> parse_assignment(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == text.npos) {
    throw ConfigError("'" + printable(text) +
                      "': expected KEY=VALUE, such as launch.num_processes=4");
  }
  const auto key = find_key(text.substr(0, equals));
  return {key.setting, parse_for(key, text.substr(equals + 1))};
}

}  // namespace muster::launcher
