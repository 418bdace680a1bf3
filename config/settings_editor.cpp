#include <muster/error.hpp>
#include <muster/replace_file.hpp>
#include <muster/settings_editor.hpp>

#include "resolver.hpp"
#include "settings_file.hpp"
#include "text.hpp"
#include "toml.hpp"
#include "toml_text.hpp"

#include <algorithm>

namespace muster {
namespace {

using Map = std::map<std::string, std::string>;

FileContent read(const std::string& text, const std::string& name) {
  return parse_settings(text, name, Origin::Kind::config_file);
}

/// The one fault of a text that is not TOML; it is told with line and column.
void check_toml(const std::string& text, const std::string& name) {
  if (!toml::parse(text)) throw ConfigError(join_lines(read(text, name).faults));
}

TomlPath path_of(const Setting& setting) {
  return {std::string(setting.section), std::string(setting.key)};
}

}  // namespace

SettingsEditor SettingsEditor::open(std::filesystem::path path, std::string name, bool named) {
  auto text = read_settings_file(path, name, named ? Trust::named : Trust::unnamed);
  SettingsEditor editor(text.value_or(""), std::move(name));
  editor.path_ = std::move(path);
  editor.on_disk_ = std::move(text);
  return editor;
}

SettingsEditor::SettingsEditor(std::string text, std::string name)
    : name_(std::move(name)), text_(std::move(text)) {
  check_toml(text_, name_);
}

std::optional<SettingsEditor::Present> SettingsEditor::present(const Setting& setting) const {
  for (const auto& given : read(text_, name_).given) {
    if (given.setting == &setting) return Present{given.value, given.origin.line};
  }
  return std::nullopt;
}

std::vector<std::string> SettingsEditor::faults() const {
  auto content = read(text_, name_);
  auto conflicts = conflicts_of(content.given);
  content.faults.insert(content.faults.end(), conflicts.begin(), conflicts.end());
  return std::move(content.faults);
}

std::vector<const Setting*> SettingsEditor::set(const Setting& setting, const Value& value) {
  try {
    check_value(setting, value);
  } catch (const ConfigError& error) {
    const bool is_map = setting.member.kind == ValueKind::map;  // What may be secret.
    throw ConfigError(setting.id() + (is_map ? "" : " = " + excerpt(to_text(value))) +
                      ": expected " + error.what());
  }
  std::vector<const Setting*> removed;
  const bool decides = !setting.group.empty() && value != Value(false);
  for (const auto& other : settings_table()) {
    const bool rival = decides && other.group == setting.group && &other != &setting;
    if (rival && unset(other)) removed.push_back(&other);
  }
  if (const auto* map = std::get_if<Map>(&value)) {
    const auto now = present(setting);
    const auto items = now ? std::get<Map>(now->value) : Map();
    for (const auto& [name, text] : *map) {
      const auto item = items.find(name);
      if (item != items.end() && item->second == text) continue;
      auto path = path_of(setting);
      path.push_back(name);
      write(setting, path, text);
    }
    return removed;
  }
  const auto now = present(setting);
  if (!now || now->value != value) write(setting, path_of(setting), value);
  return removed;
}

void SettingsEditor::write(const Setting& setting, const TomlPath& path, const Value& value) {
  const auto before = read(text_, name_);
  TomlText text(text_);
  try {
    text.set(path, to_toml(value));
  } catch (const ConfigError& error) {
    throw ConfigError(name_ + error.what());
  }
  // Whatever the file looks like, it must say this now, and of all else the same as before.
  const auto after = read(text.text(), name_);
  const auto same = [&](const Given& one, const Given& other) {
    return one.setting == other.setting && (one.setting == &setting || one.value == other.value);
  };
  const auto said = std::count_if(before.given.begin(), before.given.end(), [&](const auto& one) {
    return one.setting != &setting &&
           std::none_of(after.given.begin(), after.given.end(),
                        [&](const auto& other) { return same(one, other); });
  });
  const bool there = std::any_of(after.given.begin(), after.given.end(),
                                 [&](const auto& one) { return one.setting == &setting; });
  if (said != 0 || !there) {
    throw Error(name_ + ": " + setting.id() + " cannot be put into this file; do it by hand");
  }
  text_ = text.text();
}

bool SettingsEditor::unset(const Setting& setting) { return erase(path_of(setting)); }

bool SettingsEditor::unset_item(const Setting& map, const std::string& name) {
  auto path = path_of(map);
  path.push_back(name);
  return erase(path);
}

bool SettingsEditor::erase(const TomlPath& path) {
  TomlText text(text_);
  const bool found = text.unset(path);
  check_toml(text.text(), name_);
  text_ = text.text();
  return found;
}

void SettingsEditor::save() {
  if (exists() && !changed()) return;
  const auto now = read_settings_file(path_, name_, Trust::named);
  if (now != on_disk_) {
    throw Error(name_ + ": somebody else wrote to it meanwhile; nothing was written, try again");
  }
  if (path_.has_parent_path()) {
    std::error_code error;
    std::filesystem::create_directories(path_.parent_path(), error);
    if (error) throw Error(path_.parent_path().string() + ": cannot be made: " + error.message());
  }
  replace_file(path_, text_);
  on_disk_ = text_;
}

}  // namespace muster
