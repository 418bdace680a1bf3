#include <muster/show.hpp>

#include "text.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace muster {
namespace {

using Line = std::pair<std::string, std::string>;  // The setting, and where it came from.
using Map = std::map<std::string, std::string>;

std::string map_value(const std::string& name, const std::string& value) {
  return is_secret_name(name) ? "\"(hidden)\"" : toml_string(value);
}

bool is_bare_key(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

/// "  (hides 4 from config.toml:1, 8 from ...)"; nothing if nothing is hidden. Of a map: `name`'s.
std::string hides(const Entry& entry, const std::string& name = "") {
  std::string text;
  for (const auto& [value, origin] : entry.hidden) {
    std::string shown;
    if (const auto* map = std::get_if<Map>(&value)) {
      if (!map->contains(name)) continue;
      shown = map_value(name, map->at(name));
    } else {
      shown = to_toml(value);
    }
    text.append(text.empty() ? "  (hides " : ", ").append(excerpt(shown));
    text.append(" from ").append(to_text(origin));
  }
  return text.empty() ? text : text + ")";
}

void add_map(std::vector<Line>& lines, const Entry& entry) {
  for (const auto& [name, value] : std::get<Map>(entry.value)) {
    const std::string key = is_bare_key(name) ? name : toml_string(name);
    lines.emplace_back(std::string(entry.setting->key).append(".").append(key).append(" = ") +
                           map_value(name, value),
                       to_text(entry.items.at(name)) + hides(entry, name));
  }
}

void add(std::vector<Line>& lines, const Entry& entry) {
  const std::string key(entry.setting->key);
  if (entry.decided_by) {
    lines.emplace_back("# " + key, std::string(entry.decided_by->key) + " decides" + hides(entry));
  } else if (entry.setting->member.kind == ValueKind::map) {
    add_map(lines, entry);
  } else if (entry.value != Value() || entry.setting->member.allows_none) {
    lines.emplace_back(key + " = " + to_toml(entry.value), to_text(entry.origin) + hides(entry));
  }
}

/// Of a group of which nobody set a member only the first is shown: a file may name just one.
bool is_shown(const Resolution& resolution, const Entry& entry) {
  if (entry.setting->group.empty() || entry.decided_by) return true;
  if (entry.origin.kind != Origin::Kind::built_in) return true;
  const auto first = std::find_if(
      resolution.entries().begin(), resolution.entries().end(),
      [&](const Entry& other) { return other.setting->group == entry.setting->group; });
  return &*first == &entry;
}

std::size_t origin_column(const std::vector<Line>& lines) {
  constexpr std::size_t widest = 44, gap = 3;  // One long value must not push all origins away.
  std::size_t width = 0;
  for (const auto& [text, origin] : lines) {
    if (text.size() <= widest) width = std::max(width, text.size());
  }
  return width + gap;
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(text.size() + 2 > width ? 2 : width - text.size(), ' ');
}

}  // namespace

std::string show(const Resolution& resolution, bool with_origin) {
  std::vector<Line> lines;
  std::string_view section;
  for (const Entry& entry : resolution.entries()) {
    if (entry.setting->section != section) {
      section = entry.setting->section;
      lines.emplace_back("[" + std::string(section) + "]", "");
    }
    if (is_shown(resolution, entry)) add(lines, entry);
  }
  const std::size_t column = origin_column(lines);
  std::string text;
  for (const auto& [line, origin] : lines) {
    text += with_origin && !origin.empty() ? padded(line, column) + origin : line;
    text += '\n';
  }
  return text;
}

bool is_secret_name(std::string_view name) {
  const std::string word = upper(name);
  const auto has = [&](std::string_view part) { return word.find(part) != std::string::npos; };
  return has("TOKEN") || has("SECRET") || has("PASSWORD") || word.ends_with("_KEY");
}

}  // namespace muster
