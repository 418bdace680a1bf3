#include "commands/edited_file.hpp"

#include <muster/error.hpp>
#include <muster/resolve.hpp>

#include "text.hpp"

namespace muster::launcher {

EditedFile edited_file(const CommandLine& line, const Environment& environment) {
  const auto config = line.value("--config");
  const bool user = line.has("--user");
  if (config && user) throw ConfigError("--config and --user: give one of them");
  if (config && config->empty()) throw ConfigError("--config needs the name of a file");
  if (config) return {*config, *config, "--config " + shell_quoted(*config) + " ", true};
  if (!user) return {"muster.toml", "./muster.toml", "", false};
  const auto path = user_settings_file(environment);
  if (path.empty()) throw ConfigError("--user: neither XDG_CONFIG_HOME nor HOME says where");
  return {path, path.string(), "", true};
}

SettingsEditor open_file(const EditedFile& file) {
  return SettingsEditor::open(file.path, file.name, file.named);
}

}  // namespace muster::launcher
