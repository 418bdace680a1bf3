#include <muster/error.hpp>

#include "arguments/setting_key.hpp"
#include "commands/commands.hpp"
#include "commands/edited_file.hpp"
#include "screen/screen.hpp"

namespace muster::launcher {
namespace {

constexpr const char* usage =
    "muster config set needs a key and its value, or a key and --unset; for example: "
    "muster config set launch.num_processes 4";

bool take_out(SettingsEditor& editor, const SettingKey& key) {
  return key.item ? editor.unset_item(*key.setting, *key.item) : editor.unset(*key.setting);
}

}  // namespace

int config_set(const CommandLine& line, const Environment& environment) {
  const bool unset = line.has("--unset");
  if (line.operands.size() != (unset ? 1U : 2U)) throw ConfigError(usage);
  const auto key = find_key(line.operands[0]);
  const auto file = edited_file(line, environment);
  auto editor = open_file(file);
  const bool existed = editor.exists();
  if (unset) {
    if (!take_out(editor, key)) {
      throw ConfigError(file.name + " does not set " + line.operands[0]);
    }
  } else {
    const auto value = parse_for(key, line.operands[1]);
    for (const auto* removed : editor.set(*key.setting, value)) {
      complain(removed->id() + ", which decides the same thing, is taken out", environment);
    }
  }
  editor.save();
  if (!existed) complain(file.name + " is new", environment);
  for (const auto& fault : editor.faults()) complain("still wrong: " + fault, environment);
  return 0;
}

}  // namespace muster::launcher
