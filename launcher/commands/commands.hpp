#pragma once

#include <muster/flags.hpp>
#include <muster/world.hpp>

#include <span>
#include <string>
#include <string_view>

namespace muster::launcher {

using Words = std::span<const std::string>;

/// A command of the program `muster`. `run` gets the words after its name, prints what it has to
/// say, and returns the exit code; it throws Error for what the caller prints after "muster: ".
struct Command {
  std::string_view name;   ///< "launch", "config show"
  std::string_view usage;  ///< What follows "muster ".
  std::string_view help;   ///< One sentence.
  int (*run)(Words words, const Environment& environment);
};

/// All commands, in the order in which help lists them.
std::span<const Command> commands();

int launch(Words words, const Environment& environment);
int config_show(Words words, const Environment& environment);
int env(Words words, const Environment& environment);
/// `muster help [COMMAND]`
int help(Words words, const Environment& environment);
int print_version(Words words, const Environment& environment);

/// Flags that are no settings.
std::span<const CommandFlag> launch_flags();
std::span<const CommandFlag> config_show_flags();
std::span<const CommandFlag> env_flags();

/// The help of the command of that name, or of all with an empty one; empty if there is none such.
/// `width` is that of the screen.
std::string help_of(std::string_view name, int width);

/// Finds the command that the words name, and runs it; prints what it throws. The exit code.
int run(Words words, const Environment& environment);

}  // namespace muster::launcher
