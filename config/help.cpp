#include <muster/show.hpp>

#include "text.hpp"

#include <algorithm>
#include <vector>

namespace muster {
namespace {

struct Line {
  std::string flag, help;
};

Line line_of(std::string_view name, char short_flag, std::string_view word, std::string help) {
  std::string flag = short_flag == 0 ? "    " : std::string{'-', short_flag, ',', ' '};
  flag += name;
  if (!word.empty()) flag.append(" ").append(word);
  return {std::move(flag), std::move(help)};
}

std::string help_of(const Setting& setting) {
  std::string help(setting.help);
  if (!setting.takes_value()) return help;
  const Value value = setting.default_value();
  if (value == Value(std::string()) || value == Value(std::vector<std::string>())) return help;
  if (setting.member.kind == ValueKind::map || (value == Value() && !setting.member.allows_none)) {
    return help;
  }
  const std::string unit =
      setting.unit.empty() || value == Value() ? "" : " " + std::string(setting.unit);
  std::string text = to_text(value);
  if (text.find(' ') != std::string::npos) text = toml_string(text);  // Else the end is not seen.
  return help + " [" + text + unit + "]";
}

std::string word_of(const Setting& setting) {
  std::string word =
      setting.word.empty() ? replaced(setting.choices, ' ', '|') : std::string(setting.word);
  if (setting.member.allows_auto) word += "|auto";
  return word;
}

/// Breaks at spaces; a word that is wider than the room keeps its line.
std::vector<std::string> wrapped(const std::string& text, std::size_t room) {
  std::vector<std::string> lines(1);
  for (const std::string_view word : split(text, ' ')) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > room) {
      lines.emplace_back();
    }
    lines.back().append(lines.back().empty() ? "" : " ").append(word);
  }
  return lines;
}

void append(std::string& text, const Line& line, std::size_t column, std::size_t width) {
  const std::size_t room = width > column + 20 ? width - column : 20;
  std::string start = "  " + line.flag;
  if (start.size() + 2 > column) {
    text += start + "\n";
    start.clear();
  }
  for (const std::string& part : wrapped(line.help, room)) {
    text.append(start).append(column - start.size(), ' ').append(part).append("\n");
    start.clear();
  }
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '|') result += '\\';
    result += letter;
  }
  return result;
}

std::string code(std::string_view text) { return text.empty() ? "" : "`" + escaped(text) + "`"; }

std::string table_row(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text.append(" ").append(cell).append(" |");
  return text + "\n";
}

std::string default_cell(const Setting& setting) {
  const Value value = setting.default_value();
  if (setting.member.kind == ValueKind::map) return "";
  return value == Value() && !setting.member.allows_none ? "" : code(to_toml(value));
}

std::string_view kind_name(ForeignKind kind) {
  switch (kind) {
    case ForeignKind::spelling:
      return "is";
    case ForeignKind::constant:
      return "means";
    case ForeignKind::translation:
      return "becomes";
    case ForeignKind::ignored:
      return "has no effect";
    case ForeignKind::refused:
      return "is refused";
  }
  return "";
}

std::string meaning(const ForeignFlag& flag) {
  if (!flag.target.empty()) return code(flag.target);
  if (flag.kind == ForeignKind::translation) return "only " + code(flag.text) + " is accepted";
  return escaped(flag.text);
}

}  // namespace

std::string help_text(std::span<const CommandFlag> own, std::size_t width) {
  std::vector<Line> lines;
  for (const CommandFlag& flag : own) {
    const auto name =
        std::string(flag.name) + (flag.optional ? "[=" + std::string(flag.word) + "]" : "");
    lines.push_back(
        line_of(name, flag.short_flag, flag.optional ? "" : flag.word, std::string(flag.help)));
  }
  const std::size_t settings_start = lines.size();
  for (const Setting& row : settings_table()) {
    lines.push_back(line_of(row.flag(), row.short_flag, word_of(row), help_of(row)));
  }
  constexpr std::size_t column = 32;
  std::string text;
  std::string_view section;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i >= settings_start) {
      const Setting& row = settings_table()[i - settings_start];
      if (row.section != section) text.append("\n[").append(row.section).append("]\n");
      section = row.section;
    }
    append(text, lines[i], column, width);
  }
  return text;
}

std::string settings_as_markdown() {
  std::string text =
      "| key | flag | variable | value | default | unit | |\n|---|---|---|---|---|---|---|\n";
  for (const Setting& row : settings_table()) {
    std::string flag = row.short_flag == 0 ? "" : code(std::string{'-', row.short_flag}) + ", ";
    flag += code(row.flag());
    text += table_row({code(row.id()), flag, code(row.variable()), escaped(row.expectation()),
                       default_cell(row), std::string(row.unit), escaped(row.help)});
  }
  return text;
}

std::string foreign_flags_as_markdown() {
  std::string text = "| flag | | |\n|---|---|---|\n";
  for (const ForeignFlag& flag : foreign_flags()) {
    text += table_row({code(flag.name), std::string(kind_name(flag.kind)), meaning(flag)});
  }
  return text;
}

}  // namespace muster
