#include "commands/commands.hpp"

#include <algorithm>
#include <iterator>

namespace muster::launcher {
namespace {

constexpr CommandFlag launch_flags[] = {
    {"--module", 'm', "", "The program is a Python module; ends muster's options."},
    {"--config", 0, "FILE", "Settings file, instead of ./muster.toml."},
    {"--no-config", 0, "", "Read no settings file."},
    {"--dry-run", 0, "", "Print what each rank would run, and start nothing."},
    {"--report", 0, "FILE", "Write how the job ended to FILE, as JSON."},
    {"--quiet", 'q', "", "Of muster's own lines only the first of a failure."},
    {"--verbose", 'v', "", "Say what was decided, and which flags had no effect."},
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
    {"--help", 'h', "", "This text."},
};

constexpr CommandFlag only_help[] = {{"--help", 'h', "", "This text."}};

constexpr Command table[] = {
    {{"launch", launch_flags, true, true},
     "launch [OPTIONS] [--] PROGRAM [ARGUMENTS]",
     "Start a program as one or more ranks.",
     launch},
    {{"config show", config_show_flags, true, false},
     "config show [OPTIONS]",
     "Show the settings in force, and where they come from.",
     config_show},
    {{"env", env_flags, false, false},
     "env [--json]",
     "Show what this machine has, and what a launch here would use.",
     env},
    {{"help", only_help, false, true}, "help [COMMAND]", "Explain a command.", help},
    {{"version", only_help, false, false}, "version", "Print the version.", print_version},
};

}  // namespace

std::span<const Command> commands() { return table; }

const Command* find_command(std::string_view name) {
  const auto row = std::find_if(std::begin(table), std::end(table),
                                [&](const auto& one) { return one.name.starts_with(name); });
  return row == std::end(table) ? nullptr : row;
}

}  // namespace muster::launcher
