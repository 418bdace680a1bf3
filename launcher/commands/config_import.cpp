#include <muster/error.hpp>
#include <muster/settings_editor.hpp>

#include "commands/commands.hpp"
#include "import/import.hpp"
#include "screen/screen.hpp"

#include <unistd.h>

namespace muster::launcher {
namespace {

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

}  // namespace

int config_import(const CommandLine& line, const Environment& environment) {
  if (line.operands.size() != 1) {
    throw ConfigError("muster config import needs one file; for example: muster config import " +
                      std::string("default_config.yaml"));
  }
  const auto& file = line.operands.front();
  const auto from = line.value("--from");
  const auto import =
      import_text(read_foreign_file(file), file,
                  from ? std::optional(import_kind(*from)) : std::nullopt, host_name());
  const auto output = line.value("--output");
  auto editor = output ? SettingsEditor::open(*output, *output, true) : SettingsEditor("", file);
  for (const auto& row : settings_table()) {
    const auto found = import.settings.find(&row);
    if (found != import.settings.end()) editor.set(row, found->second);
  }
  for (const auto& note : import.notes) complain(note, environment);
  if (import.settings.empty()) complain(file + ": nothing in it is a setting here", environment);
  if (output) {
    editor.save();
  } else {
    print_out(editor.text());
  }
  return 0;
}

}  // namespace muster::launcher
