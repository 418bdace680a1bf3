#include <muster/error.hpp>
#include <muster/nearest.hpp>

#include "commands/commands.hpp"
#include "screen/screen.hpp"
#include "text.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <unistd.h>
#include <vector>

namespace muster::launcher {
namespace {

constexpr Command table[] = {
    {"launch", "launch [OPTIONS] [--] PROGRAM [ARGUMENTS]", "Start a program as one or more ranks.",
     launch},
    {"config show", "config show [OPTIONS]",
     "Show the settings in force, and where they come from.", config_show},
    {"env", "env [--json]", "Show what this machine has, and what a launch here would use.", env},
    {"help", "help [COMMAND]", "Explain a command.", help},
    {"version", "version", "Print the version.", print_version},
};

constexpr int usage_error = static_cast<int>(ExitCode::usage);

/// How many of the words are the command's name; 0 if they are not.
std::size_t length_of_name(const Command& command, Words words) {
  const auto parts = split(command.name, ' ');
  const bool same =
      words.size() >= parts.size() && std::equal(parts.begin(), parts.end(), words.begin());
  return same ? parts.size() : 0;
}

std::string unknown_command(Words words) {
  const auto& word = words.front();
  if (word.starts_with('-')) {
    return "'" + word + "' comes after a command: muster launch " + word +
           " ...; muster --help lists the commands";
  }
  std::vector<std::string> names;
  for (const auto& command : table) {
    const auto parts = split(command.name, ' ');
    if (parts.size() == 2 && word == parts[0]) {
      const auto found = words.size() > 1 ? ", found '" + words[1] + "'" : "";
      return "muster " + word + " needs one of: " + std::string(parts[1]) + found;
    }
    names.emplace_back(parts.front());
  }
  const auto hint = did_you_mean(word, names);
  return "unknown command '" + word + "'" +
         (hint.empty() ? "; a program is started by: muster launch -- " + word : hint);
}

int dispatch(Words words, const Environment& environment) {
  if (words.empty()) {
    print_error(help_of("", Screen::of(STDERR_FILENO, environment).width));
    return usage_error;
  }
  if (words[0] == "--help" || words[0] == "-h") return help(words.subspan(1), environment);
  if (words[0] == "--version") return print_version(words.subspan(1), environment);
  for (const auto& command : table) {
    const auto used = length_of_name(command, words);
    if (used > 0) return command.run(words.subspan(used), environment);
  }
  throw ConfigError(unknown_command(words));
}

}  // namespace

std::span<const Command> commands() { return table; }

int run(Words words, const Environment& environment) {
  try {
    return dispatch(words, environment);
  } catch (const Error& error) {
    complain(error.what(), environment);
    return static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    complain(std::string("failed: ") + error.what(), environment);
    return static_cast<int>(ExitCode::internal);
  }
}

}  // namespace muster::launcher
