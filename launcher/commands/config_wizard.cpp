#include <muster/error.hpp>

#include "arguments/setting_key.hpp"
#include "commands/commands.hpp"
#include "commands/edited_file.hpp"
#include "devices/choose_devices.hpp"
#include "screen/screen.hpp"
#include "wizard/dialogue.hpp"
#include "wizard/interrupt_notice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <unistd.h>

namespace muster::launcher {
namespace {

SettingValues present_values(const SettingsEditor& editor) {
  SettingValues values;
  for (const auto& row : settings_table()) {
    if (auto present = editor.present(row)) values.emplace(&row, std::move(present->value));
  }
  return values;
}

void take_assignments(Interview& interview, const CommandLine& line) {
  std::string faults;
  for (const auto& text : line.values("--set")) {
    try {
      const auto [setting, value] = parse_assignment(text);
      interview.give(*setting, value);
    } catch (const ConfigError& error) {
      faults += (faults.empty() ? "--set " : "\n--set ") + std::string(error.what());
    }
  }
  if (!faults.empty()) throw ConfigError(faults);
}

void ask(Interview& interview, const CommandLine& line, const EditedFile& file,
         const Environment& environment) {
  if (line.has("--yes")) return take_offers(interview);
  const bool terminal = ::isatty(STDIN_FILENO) != 0;
  const auto screen = Screen::of(STDERR_FILENO, environment);
  print_error(opening_text(found_text(interview.facts()), file.name, screen, terminal));
  LineReader input(STDIN_FILENO);
  const InterruptNotice notice;
  hold_dialogue(interview, input, screen, terminal);
}

/// Variables are stronger than the file.
void tell_overruled(const Interview& interview, const Environment& environment) {
  for (const auto& [setting, value] : interview.answers()) {
    const auto variable = setting->variable();
    if (variable.empty() || !environment.contains(variable)) continue;
    complain(variable + " is set here, and stronger than the file", environment);
  }
}

std::string indented(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    result += (text[0] == '\n' ? "" : "  ") + std::string(text.substr(0, end));
    text.remove_prefix(end);
  }
  return result;
}

}  // namespace

int config_wizard(const CommandLine& line, const Environment& environment) {
  const auto file = edited_file(line, environment);
  auto editor = open_file(file);
  for (const auto& fault : editor.faults()) complain("stays as it is: " + fault, environment);
  Interview interview({discover(Sysroot(), nvml_use({}, environment)), environment},
                      present_values(editor));
  take_assignments(interview, line);
  ask(interview, line, file, environment);
  for (const auto& [setting, value] : interview.to_write()) editor.set(*setting, value);
  const bool changed = editor.changed() || !editor.exists();
  editor.save();
  tell_overruled(interview, environment);
  const bool on_screen = ::isatty(STDOUT_FILENO) != 0;
  print_out(on_screen ? "\n" + indented(editor.text()) + "\n" : editor.text());
  print_error(fmt::format("{} {}. Run:  muster launch {}-- ./your_program\n",
                          changed ? "Written to" : "Nothing new for", file.name, file.launch));
  for (const auto& fault : editor.faults()) complain("still wrong: " + fault, environment);
  return 0;
}

}  // namespace muster::launcher
