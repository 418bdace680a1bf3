#include "commands/commands.hpp"

#include <algorithm>
#include <iterator>

namespace muster::launcher {
namespace {

constexpr CommandFlag launch_flags[] = {
    {"--module", 'm', "", "The program is a Python module; ends muster's options."},
    {"--config", 0, "FILE", "Settings file, instead of ./muster.toml."},
    {"--no-config", 0, "", "Read no settings file."},
    {"--dry-run", 0, "json|sh",
     "Print what each rank would run, and start nothing; as text, as JSON or as a shell script.",
     true},
    {"--topology", 0, "FILE", "Plan for the machine that muster env --record wrote to FILE."},
    {"--report", 0, "FILE", "Write how the job ended to FILE, as JSON."},
    {"--quiet", 'q', "", "Of muster's own lines only the first of a failure."},
    {"--verbose", 'v', "", "Say what was decided, and which flags had no effect."},
    {"--help", 'h', "", "This text."},
};

constexpr CommandFlag config_flags[] = {
    {"--yes", 'y', "", "Ask nothing: take what is offered."},
    {"--set", 0, "KEY=VALUE", "The answer for one setting; may be given several times."},
    {"--config", 0, "FILE", "The file to write, instead of ./muster.toml."},
    {"--user", 0, "", "Write the file of all your jobs, ~/.config/muster/config.toml."},
    {"--help", 'h', "", "This text."},
};

constexpr CommandFlag config_get_flags[] = {
    {"--config", 0, "FILE", "Settings file, instead of ./muster.toml."},
    {"--no-config", 0, "", "Read no settings file."},
    {"--help", 'h', "", "This text."},
};

constexpr CommandFlag config_set_flags[] = {
    {"--unset", 0, "", "Take the setting out of the file."},
    {"--config", 0, "FILE", "The file to change, instead of ./muster.toml."},
    {"--user", 0, "", "Change the file of all your jobs, ~/.config/muster/config.toml."},
    {"--help", 'h', "", "This text."},
};

constexpr CommandFlag config_import_flags[] = {
    {"--from", 0, "KIND", "accelerate, deepspeed or hostfile, if the file does not tell."},
    {"--output", 'o', "FILE", "Put the settings into FILE, instead of printing them."},
    {"--help", 'h', "", "This text."},
};

constexpr CommandFlag config_show_flags[] = {
    {"--origin", 0, "", "Beside each setting where it comes from."},
    {"--json", 0, "", "As JSON, with origins and the values they hide."},
    {"--config", 0, "FILE", "Settings file, instead of ./muster.toml."},
    {"--no-config", 0, "", "Read no settings file."},
    {"--help", 'h', "", "This text."},
};

constexpr CommandFlag env_flags[] = {
    {"--json", 0, "", "As JSON."},
    {"--record", 0, "FILE", "Write the machine to FILE, for --topology."},
    {"--topology", 0, "FILE", "Show the machine of FILE, not this one."},
    {"--help", 'h', "", "This text."},
};

constexpr CommandFlag test_flags[] = {
    {"--json", 0, "", "As JSON."},
    {"--config", 0, "FILE", "Settings file, instead of ./muster.toml."},
    {"--no-config", 0, "", "Read no settings file."},
    {"--verbose", 'v', "", "Say what was decided before the ranks start."},
    {"--help", 'h', "", "This text."},
};

constexpr CommandFlag completion_flags[] = {
    {"--words", 0, "", "What may follow the words of a line; asked by the scripts."},
    {"--help", 'h', "", "This text."},
};

constexpr CommandFlag help_flags[] = {
    {"--man", 0, "", "The manual page, in the form that man reads."},
    {"--help", 'h', "", "This text."},
};

constexpr CommandFlag only_help[] = {{"--help", 'h', "", "This text."}};

constexpr Command table[] = {
    {{"launch", launch_flags, true, true},
     "launch [OPTIONS] [--] PROGRAM [ARGUMENTS]",
     "Start a program as one or more ranks.",
     launch},
    {{"config", config_flags},
     "config [OPTIONS]",
     "Ask for settings, and write them.",
     config_wizard},
    {{"config show", config_show_flags, true, false},
     "config show [OPTIONS]",
     "Show the settings in force, and where they come from.",
     config_show},
    {{"config get", config_get_flags, false, false, true},
     "config get KEY [OPTIONS]",
     "Print the value of one setting that is in force.",
     config_get},
    {{"config set", config_set_flags, false, false, true},
     "config set KEY VALUE [OPTIONS]",
     "Change one setting in a file, and nothing else in it.",
     config_set},
    {{"config check", only_help, false, false, true},
     "config check [FILE]",
     "Name every fault of a settings file.",
     config_check},
    {{"config import", config_import_flags, false, false, true},
     "config import FILE [OPTIONS]",
     "Take over another launcher's settings, and say what cannot be.",
     config_import},
    {{"config schema", only_help},
     "config schema",
     "Print the JSON schema of settings files, for editors.",
     config_schema},
    {{"env", env_flags, false, false},
     "env [--json] [--record FILE | --topology FILE]",
     "Show what this machine has, and what a launch here would use.",
     env},
    {{"test", test_flags, true, false},
     "test [-n N] [OPTIONS]",
     "Check that this machine computes, talks and trains right.",
     test},
    {{"completion", completion_flags, false, false, true},
     "completion SHELL",
     "Print what makes bash, zsh or fish complete muster's words.",
     completion},
    {{"help", help_flags, false, true}, "help [COMMAND]", "Explain a command.", help},
    {{"version", only_help, false, false}, "version", "Print the version.", print_version},
};

}  // namespace

std::span<const Command> commands() { return table; }

const Command* find_command(std::string_view name) {
  const auto find = [](auto matches) {
    return std::find_if(std::begin(table), std::end(table), matches);
  };
  auto row = find([&](const Command& one) { return one.name == name; });
  if (row == std::end(table))
    row = find([&](const Command& one) { return one.name.starts_with(name); });
  return row == std::end(table) ? nullptr : row;
}

}  // namespace muster::launcher
