#pragma once

#include <muster/setting.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// A settings file that is being changed. Whatever of its text no change is about stays: comments,
/// order, and what this version does not know. Nothing is written before save().
class SettingsEditor {
 public:
  /// A setting that the text gives a value.
  struct Present {
    Value value;
    int line = 0;
  };

  /// Reads a file; one that is missing is empty. `name` is what messages call it. With `named`
  /// false it must be one that `muster launch` would take unasked. Throws ConfigError for what
  /// cannot be read, or is not TOML.
  static SettingsEditor open(std::filesystem::path path, std::string name, bool named);
  /// Edits a text alone; save() may not be called.
  SettingsEditor(std::string text, std::string name);

  bool exists() const noexcept { return on_disk_.has_value(); }
  bool changed() const noexcept { return on_disk_.value_or("") != text_; }
  const std::string& text() const noexcept { return text_; }

  /// Nothing for what the text does not set, or sets to what is no value of it.
  std::optional<Present> present(const Setting& setting) const;
  /// All that `muster launch` would refuse in the text, one line each.
  std::vector<std::string> faults() const;

  /// Gives the setting this value, and takes the other members of its group out, which are
  /// returned; false, which leaves it to the others, takes none out. Names of a map are added to
  /// those that are there. A value that is there already keeps its form. Throws ConfigError if the
  /// value is none of the setting, or if something else stands in its place.
  std::vector<const Setting*> set(const Setting& setting, const Value& value);
  /// False if the text does not set it.
  bool unset(const Setting& setting);
  bool unset_item(const Setting& map, const std::string& name);

  /// Writes the file if something changed: whole or not at all, and it keeps its mode and owner.
  /// Throws Error if that cannot be done, or if somebody else wrote to it meanwhile.
  void save();

 private:
  void write(const Setting& setting, const std::vector<std::string>& path, const Value& value);
  bool erase(const std::vector<std::string>& path);

  std::filesystem::path path_;
  std::string name_;
  std::optional<std::string> on_disk_;
  std::string text_;
};

}  // namespace muster
