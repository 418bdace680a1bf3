#include <muster/error.hpp>
#include <muster/nearest.hpp>
#include <muster/version.hpp>

#include "commands/commands.hpp"
#include "commands/launch_end.hpp"
#include "describe/man_page.hpp"
#include "screen/screen.hpp"
#include "text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <unistd.h>

namespace muster::launcher {
namespace {

CLI::App* find(CLI::App& app, const std::string& word) {
  const auto found = app.get_subcommands([&](CLI::App* sub) { return sub->check_name(word); });
  return found.empty() ? nullptr : found.front();
}

/// The command of exactly this name; null for the beginning of others' names.
const Command* command_of(std::string_view name) {
  const auto* command = find_command(name);
  return command != nullptr && command->name == name ? command : nullptr;
}

/// The tree of commands. Options are added to the one in use, --help aside, which CLI11 gives to
/// all.
void add_commands(CLI::App& root) {
  for (const auto& command : commands()) {
    auto* at = &root;
    std::string name;
    for (const auto part : split(command.name, ' ')) {
      at->require_subcommand(command_of(name) != nullptr ? 0 : 1, 1);
      name += (name.empty() ? "" : " ") + std::string(part);
      auto* known = find(*at, std::string(part));
      at = known != nullptr ? known : at->add_subcommand(std::string(part));
    }
  }
}

void add_options(CLI::App& app, const CommandGrammar& grammar, Options& options) {
  for (const auto& flag : grammar.own) {
    const std::string name(flag.name);
    if (app.get_option_no_throw(name) != nullptr) continue;
    const bool takes_value = !flag.word.empty();
    app.add_option(name,
                   [&options, name, takes_value](const auto& values) {
                     options[name] = takes_value ? values.back().substr(1) : "";
                     return true;
                   })
        ->expected(takes_value ? 1 : 0)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

/// `app` is as far as the words led, `rest` the words from there on.
std::string unknown_command(const CLI::App& app, Words rest) {
  std::vector<std::string> names;
  for (const auto* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  if (app.get_parent() != nullptr) {
    const auto hint = rest.empty() ? "" : did_you_mean(rest.front(), names);
    return fmt::format("muster {} has: {}{}", app.get_name(), fmt::join(names, ", "),
                       rest.empty() ? "" : "; found '" + rest.front() + "'" + hint);
  }
  const auto& word = rest.front();
  if (word.starts_with('-')) {
    return "'" + word + "' comes after a command: muster launch " + word +
           " ...; muster --help lists the commands";
  }
  const auto hint = did_you_mean(word, names);
  return "unknown command '" + word + "'" +
         (hint.empty() ? "; a program is started by: muster launch -- " + word : hint);
}

/// Parses the words and runs the command, or answers --help and --version.
int parse_and_run(CLI::App& root, Words words, const Environment& environment) {
  auto* app = &root;
  auto rest = words;
  std::string name;
  for (CLI::App* next; !rest.empty() && (next = find(*app, rest.front())) != nullptr; app = next) {
    name += (name.empty() ? "" : " ") + rest.front();
    rest = rest.subspan(1);
  }
  const auto* command = command_of(name);
  const bool more = !app->get_subcommands({}).empty() && !rest.empty();
  if (more && !rest.front().starts_with('-')) command = nullptr;  // A word that is no command.
  CommandLine line;
  line.typed.assign(words.begin(), words.end());
  if (command != nullptr) {
    split_words(rest, *command, line);
    add_options(*app, *command, line.options);
  }
  const Words own = command != nullptr ? Words(line.own) : rest;
  std::vector<std::string> known(own.rbegin(), own.rend());  // CLI11 takes them from the end.
  known.insert(known.end(), words.rbegin() + std::ssize(rest), words.rend());
  try {
    root.parse(std::move(known));
    if (line.fault) throw ConfigError(*line.fault);
    if (command != nullptr) return command->run(line, environment);
    throw ConfigError(unknown_command(*app, rest));
  } catch (const CLI::CallForHelp&) {
    const auto strange = root.remaining(true);
    if (!strange.empty())
      throw ConfigError("no command '" + strange.front() + "'; muster --help lists them");
    print_out(root.help());
  } catch (const CLI::CallForVersion& asked) {
    print_out(std::string(asked.what()) + "\n");
  } catch (const CLI::ParseError&) {
    if (command != nullptr) throw;  // A fault of ours: the words are in order.
    throw ConfigError(unknown_command(*app, rest));
  } catch (const Error& error) {
    report_error(line, error);
    throw;
  }
  return 0;
}

int dispatch(Words words, const Environment& environment) {
  if (words.empty()) {
    print_error(help_of("", Screen::of(STDERR_FILENO, environment).width));
    return static_cast<int>(ExitCode::usage);
  }
  CLI::App root;
  root.set_version_flag("--version", "muster " + std::string(version));
  root.formatter_fn([&](const CLI::App*, const std::string& name, CLI::AppFormatMode) {
    return help_of(name, Screen::of(STDOUT_FILENO, environment).width);
  });
  add_commands(root);
  return parse_and_run(root, words, environment);
}

}  // namespace

int help(const CommandLine& line, const Environment& environment) {
  if (line.has("--man")) {
    print_out(man_page());
    return 0;
  }
  auto words = line.program;
  words.emplace_back("--help");
  return dispatch(words, environment);
}

int print_version(const CommandLine&, const Environment& environment) {
  const std::string word = "--version";
  return dispatch({&word, 1}, environment);
}

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
