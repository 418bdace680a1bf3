#include <muster/error.hpp>
#include <muster/settings_editor.hpp>

#include "fuzz/fuzz.hpp"

using muster::SettingsEditor;

/// A settings file: read, and each of its settings changed. Whatever it looks like, a setting that
/// was set is there, alone, and can be taken out again.
int muster::fuzz::try_input(std::string_view input) {
  try {
    SettingsEditor file(std::string(input), "f");
    for (const auto& fault : file.faults())
      require(fault.starts_with("f:"), "a fault has its line");
    for (const auto& row : settings_table()) {
      if (const auto present = file.present(row)) check_value(row, present->value);
      const auto value = row.default_value();
      if (value == Value() && !row.member.allows_none) continue;
      auto changed = file;
      changed.set(row, value);
      if (row.member.kind == ValueKind::map) continue;  // Its default is empty.
      require(changed.present(row) && changed.present(row)->value == value, "what is set is there");
      auto again = changed;
      again.set(row, value);
      require(again.text() == changed.text(), "what is there is not set again");
      require(changed.unset(row) && !changed.present(row), "what is taken out is gone");
    }
  } catch (const ConfigError&) {
    return 1;
  } catch (const Error& error) {
    // A form of text in which the editor finds no place, which it says instead of writing.
    require(std::string_view(error.what()).find("by hand") != std::string_view::npos, error.what());
    return 1;
  }
  return 0;
}
