#include <muster/error.hpp>
#include <muster/nearest.hpp>

#include "settings_file.hpp"
#include "text.hpp"
#include "toml.hpp"

#include <algorithm>
#include <set>
#include <sstream>

namespace muster {
namespace {

/// As a person would write it, for messages.
std::string shown(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array() && node.as_array()->size() > 8) return "a long array";
  std::ostringstream text;
  if (const auto* string = node.as_string()) return toml_string(excerpt(string->get()));
  if (const auto* array = node.as_array()) {
    text << *array;
  } else {
    node.visit([&](const auto& value) {
      if constexpr (toml::is_value<decltype(value)>) text << value;
    });
  }
  return excerpt(text.str());
}

/// ":3:11: not TOML: cannot redefine existing integer 'threads'"
std::string not_toml(const toml::parse_error& error) {
  const auto at = error.source().begin;
  std::string_view what = error.description();
  constexpr std::string_view preamble = "Error while parsing ";
  const auto colon = what.find(": ");
  if (what.starts_with(preamble) && colon != std::string_view::npos) what.remove_prefix(colon + 2);
  if (what.find("unescaped control") != std::string_view::npos) {
    what = "a line end or control character inside quotes; is a quote left open?";
  }
  return ":" + std::to_string(at.line) + ":" + std::to_string(at.column) +
         ": not TOML: " + excerpt(what, 300);
}

/// Turns the nodes of one file into values, gathering all faults.
class Reader {
 public:
  Reader(const std::string& name, Origin::Kind kind) : name_(name), kind_(kind) {}

  void read(const toml::table& root) {
    for (const auto& [key, node] : root) {
      if (const toml::table* section = node.as_table(); section && is_section(key.str())) {
        read_section(key.str(), *section);
      } else {
        fault(key, unknown_at_top(key.str(), node));
      }
    }
  }

  FileContent content() {
    std::stable_sort(faults_.begin(), faults_.end(),
                     [](const auto& one, const auto& other) { return one.first < other.first; });
    for (auto& [line, text] : faults_) content_.faults.push_back(std::move(text));
    return std::move(content_);
  }

 private:
  static bool is_section(std::string_view name) {
    const auto table = settings_table();
    return std::any_of(table.begin(), table.end(),
                       [&](const Setting& row) { return row.section == name; });
  }

  static std::vector<std::string> sections() {
    std::vector<std::string> names;
    for (const Setting& row : settings_table()) {
      if (names.empty() || names.back() != row.section) names.emplace_back(row.section);
    }
    return names;
  }

  static std::string unknown_at_top(std::string_view key, const toml::node& node) {
    const std::string quoted = "'" + excerpt(key) + "'";
    const auto names = sections();
    if (is_section(key)) return quoted + " is a section: expected [" + std::string(key) + "]";
    if (node.is_table()) {
      const std::string hint = did_you_mean(key, names, "[", "]");
      const std::vector<std::string_view> words(names.begin(), names.end());
      return "unknown section [" + excerpt(key) + "]" +
             (hint.empty() ? "; expected " + alternatives(words) : hint);
    }
    for (const Setting& row : settings_table()) {
      if (row.key == key) {
        return "key " + quoted + " stands before any section; it belongs in [" +
               std::string(row.section) + "]";
      }
    }
    std::vector<std::string> keys;
    for (const Setting& row : settings_table()) keys.emplace_back(row.key);
    return "unknown key " + quoted + did_you_mean(key, keys, "'", "'");
  }

  void read_section(std::string_view section, const toml::table& table) {
    for (const auto& [key, node] : table) {
      const auto* setting = find_setting_by_id(std::string(section).append(".").append(key.str()));
      if (setting) {
        read_setting(*setting, key, node);
      } else {
        fault(key, unknown_in(section, key.str()));
      }
    }
  }

  static std::string unknown_in(std::string_view section, std::string_view key) {
    std::vector<std::string> here;
    std::string elsewhere;
    for (const Setting& row : settings_table()) {
      if (row.section == section) here.emplace_back(row.key);
      if (row.key == key) elsewhere = row.section;
    }
    std::string hint = did_you_mean(key, here, "'", "'");
    if (!elsewhere.empty()) hint = "; it belongs in [" + elsewhere + "]";
    return "unknown key '" + excerpt(key) + "' in [" + std::string(section) + "]" + hint;
  }

  void read_setting(const Setting& setting, const toml::key& key, const toml::node& node) {
    Given given{&setting, {}, {kind_, name_, line_of(key)}, {}};
    if (setting.member.kind == ValueKind::map) {
      if (!read_map(setting, node, given)) return;
    } else if (auto value = convert(setting, node)) {
      given.value = std::move(*value);
    } else {
      return wrong(key, setting.id(), node, setting.expectation() + quote_hint(setting, node));
    }
    try {
      check_value(setting, given.value);
    } catch (const ConfigError& error) {
      // A map's values may be secret.
      const bool is_map = setting.member.kind == ValueKind::map;
      if (is_map) return fault(key, setting.id() + ": expected names that an environment can hold");
      return wrong(key, setting.id(), node, error.what());
    }
    content_.given.push_back(std::move(given));
  }

  bool read_map(const Setting& setting, const toml::node& node, Given& given) {
    const toml::table* table = node.as_table();
    if (!table) {
      // What stands there may be secret.
      fault(node.source().begin, setting.id() + ": expected a table, such as { NAME = \"value\" }");
      return false;
    }
    std::map<std::string, std::string> map;
    bool good = true;
    for (const auto& [name, item] : *table) {
      if (const auto* text = item.as_string()) {
        map.emplace(name.str(), text->get());
        given.items[std::string(name.str())] = {kind_, name_, line_of(name)};
      } else {
        good = false;
        fault(name, setting.id() + "." + excerpt(name.str()) +
                        ": expected text in quotes, as all variables are text");
      }
    }
    given.value = std::move(map);
    return good;
  }

  /// Nothing if the node's kind does not fit.
  static std::optional<Value> convert(const Setting& setting, const toml::node& node) {
    if (const auto* text = node.as_string()) {
      if (setting.member.allows_auto && text->get() == "auto") return Auto{};
      if (setting.member.allows_none && text->get() == "none") return Value();
    }
    switch (setting.member.kind) {
      case ValueKind::boolean:
        if (const auto* boolean = node.as_boolean()) return boolean->get();
        break;
      case ValueKind::integer:
        if (const auto* integer = node.as_integer()) return integer->get();
        break;
      case ValueKind::number:
      case ValueKind::seconds:
        if (const auto* integer = node.as_integer()) return static_cast<double>(integer->get());
        if (const auto* number = node.as_floating_point()) return number->get();
        break;
      case ValueKind::text:
        return word(setting, node);
      case ValueKind::list:
        return list(setting, node);
      case ValueKind::map:
        break;
    }
    return std::nullopt;
  }

  static std::optional<std::string> word(const Setting& setting, const toml::node& node) {
    if (const auto* text = node.as_string()) return text->get();
    const auto* integer = node.as_integer();
    if (integer && setting.integers) return std::to_string(integer->get());
    return std::nullopt;
  }

  /// An array of words, or one text as it would be written after the flag.
  static std::optional<Value> list(const Setting& setting, const toml::node& node) {
    std::vector<std::string> words;
    if (const auto* array = node.as_array()) {
      for (const toml::node& item : *array) {
        auto text = word(setting, item);
        if (!text) return std::nullopt;
        words.push_back(std::move(*text));
      }
      return words;
    }
    const auto text = word(setting, node);
    if (!text) return std::nullopt;
    for (const auto part : split(*text, ',')) words.emplace_back(part);
    return words;
  }

  /// Somebody wrote "4" for 4.
  static std::string quote_hint(const Setting& setting, const toml::node& node) {
    const auto* text = node.as_string();
    if (!text || setting.member.kind == ValueKind::map) return "";
    try {
      parse_value(setting, text->get());
      return "; leave the quotes out";
    } catch (const ConfigError&) {
      return "";
    }
  }

  static int line_of(const toml::key& key) { return static_cast<int>(key.source().begin.line); }

  void wrong(const toml::key& key, const std::string& id, const toml::node& node,
             const std::string& expected) {
    fault(key, id + " = " + shown(node) + ": expected " + expected);
  }

  void fault(const toml::key& key, const std::string& text) { fault(key.source().begin, text); }

  void fault(const toml::source_position& at, const std::string& text) {
    faults_.emplace_back(at.line, name_ + ":" + std::to_string(at.line) + ": " + text);
  }

  std::string name_;
  Origin::Kind kind_;
  FileContent content_;
  std::vector<std::pair<toml::source_index, std::string>> faults_;
};

}  // namespace

FileContent parse_settings(const std::string& text, const std::string& name, Origin::Kind kind) {
  const toml::parse_result parsed = toml::parse(text, std::string_view(name));
  if (!parsed) return {{}, {name + not_toml(parsed.error())}};
  Reader reader(name, kind);
  reader.read(parsed.table());
  return reader.content();
}

}  // namespace muster
