#include "describe/man_page.hpp"

#include <muster/setting.hpp>
#include <muster/version.hpp>

#include "commands/commands.hpp"
#include "text.hpp"

#include <fmt/core.h>

namespace muster::launcher {
namespace {

/// Text that man shows as it is: hyphens that can be copied, and no line that starts a request.
std::string plain(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '\\') {
      result += "\\e";
    } else if (letter == '-') {
      result += "\\-";
    } else if ((letter == '.' || letter == '\'') && (result.empty() || result.back() == '\n')) {
      result += std::string("\\&") + letter;
    } else {
      result += letter;
    }
  }
  return result;
}

std::string bold(std::string_view text) { return "\\fB" + plain(text) + "\\fR"; }
std::string slanted(std::string_view text) { return "\\fI" + plain(text) + "\\fR"; }

std::string item(const std::string& name, std::string_view text) {
  return ".TP\n" + name + "\n" + plain(text) + "\n";
}

std::string flag_name(std::string_view name, char short_flag, std::string_view word) {
  std::string text = short_flag == 0 ? "" : bold(std::string{'-', short_flag}) + ", ";
  text += bold(name);
  return word.empty() ? text : text + " " + slanted(word);
}

std::string commands_text() {
  std::string text;
  for (const auto& command : commands()) {
    text += fmt::format(".SS muster {}\n{}\n", plain(command.usage), plain(command.help));
    for (const auto& flag : command.own) {
      auto name = flag_name(flag.name, flag.short_flag, flag.optional ? "" : flag.word);
      if (flag.optional) name += "[=" + slanted(flag.word) + "]";
      text += item(name, flag.help);
    }
  }
  return text;
}

std::string value_word(const Setting& row) {
  if (!row.takes_value()) return "";
  std::string word(row.word);
  if (word.empty()) {
    for (const auto choice : split(row.choices, ' ')) {
      word += (word.empty() ? "" : "|") + std::string(choice);
    }
  }
  return row.member.allows_auto ? word + "|auto" : word;
}

std::string setting_text(const Setting& row) {
  auto text = item(flag_name(row.flag(), row.short_flag, value_word(row)), row.help);
  text += ".br\nKey " + bold(row.id());
  if (!row.variable().empty()) text += ", variable " + bold(row.variable());
  text += ".\n.br\n" + plain("A value is " + row.expectation());
  const auto value = row.default_value();
  const bool shown = row.member.kind != ValueKind::map && !to_text(value).empty() &&
                     (value != Value() || row.member.allows_none);
  if (shown) text += plain("; the default is " + to_toml(value));
  if (shown && !row.unit.empty() && value != Value()) text += " " + plain(row.unit);
  return text + ".\n";
}

std::string settings_text() {
  std::string text, section;
  for (const auto& row : settings_table()) {
    if (row.section != section) text += fmt::format(".SS [{}]\n", row.section);
    section = row.section;
    text += setting_text(row);
  }
  return text;
}

constexpr std::string_view introduction =
    "Starts a program as one or more ranks on this host, looks after them, and says how it ended. "
    "Any program, in any language.";

constexpr std::string_view about_settings =
    "A setting is a flag of muster launch, a variable, and a key of a TOML file, where key "
    "launch.threads is threads in the table [launch]. A flag is stronger than a variable, a "
    "variable stronger than a file.";

std::string files_text() {
  return item(plain("./muster.toml"), "The settings of the jobs that are started in this folder.") +
         item("$XDG_CONFIG_HOME/muster/config.toml", "Those of all jobs of a user.");
}

std::string exit_text() {
  return item("0", "No rank failed.") +
         item(slanted("N"), "The exit code of the rank that failed first.") +
         item("128 + " + slanted("signal"), "A signal ended that rank, or the job.") +
         item("2", "Wrong usage or settings; nothing was started.") +
         item("124", "A deadline passed.") + item("125", "muster itself failed.") +
         item("126", "The program cannot be executed.") + item("127", "The program was not found.");
}

}  // namespace

std::string man_page() {
  std::string text = fmt::format(".TH MUSTER 1 \"\" \"muster {}\" \"User Commands\"\n", version);
  text += ".SH NAME\nmuster \\- start one training program as many ranks\n";
  text += ".SH SYNOPSIS\n" + bold("muster") + " " + slanted("COMMAND") + " [" + slanted("OPTIONS") +
          "]\n";
  text += ".SH DESCRIPTION\n" + plain(introduction) + "\n";
  text += ".SH COMMANDS\n" + commands_text();
  text += ".SH SETTINGS\n" + plain(about_settings) + "\n" + settings_text();
  text += ".SH FILES\n" + files_text();
  text += ".SH EXIT STATUS\n" + plain("Of muster launch; other commands exit with 0, 2 or 125.") +
          "\n" + exit_text();
  return text;
}

}  // namespace muster::launcher
