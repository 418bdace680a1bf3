#include <muster/error.hpp>
#include <muster/show.hpp>

#include "arguments/setting_key.hpp"
#include "commands/commands.hpp"
#include "commands/sources.hpp"
#include "screen/screen.hpp"

namespace muster::launcher {
namespace {

using Map = std::map<std::string, std::string>;

/// One line a name; what is secret is shown only to who asks for it by name.
std::string map_text(const Map& map) {
  std::string text;
  for (const auto& [name, value] : map) {
    text += name + "=" + (is_secret_name(name) ? "(hidden)" : value) + "\n";
  }
  return text;
}

std::string value_text(const SettingKey& key, const Value& value) {
  const auto* map = std::get_if<Map>(&value);
  if (map == nullptr) {
    const bool unset = value == Value() && !key.setting->member.allows_none;
    return (unset ? "" : to_text(value)) + "\n";
  }
  if (!key.item) return map_text(*map);
  const auto found = map->find(*key.item);
  if (found == map->end()) {
    throw ConfigError(key.setting->id() + " has no '" + *key.item + "'");
  }
  return found->second + "\n";
}

}  // namespace

int config_get(const CommandLine& line, const Environment& environment) {
  if (line.operands.size() != 1) {
    throw ConfigError("muster config get needs one key; for example: muster config get " +
                      std::string("launch.num_processes"));
  }
  const auto key = find_key(line.operands.front());
  const auto resolution = resolve(sources_of(line, environment));
  print_out(value_text(key, resolution.entry(key.setting->id()).value));
  return 0;
}

}  // namespace muster::launcher
