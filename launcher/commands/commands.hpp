#pragma once

#include <muster/world.hpp>

#include "arguments/command_line.hpp"

#include <span>
#include <string>
#include <string_view>

namespace muster::launcher {

using Words = std::span<const std::string>;

/// A command of the program `muster`: what it accepts, what help says of it, and what it does.
/// `run` prints what it has to say, and returns the exit code; it throws Error for what the caller
/// prints after "muster: ".
struct Command : CommandGrammar {
  std::string_view usage;  ///< What follows "muster ".
  std::string_view help;   ///< One sentence.
  int (*run)(const CommandLine& line, const Environment& environment);
};

/// All commands, in the order in which help lists them.
std::span<const Command> commands();
/// The one of this name, or else the first whose name begins so; null if there is none.
const Command* find_command(std::string_view name);

int launch(const CommandLine& line, const Environment& environment);
int config_wizard(const CommandLine& line, const Environment& environment);
int config_show(const CommandLine& line, const Environment& environment);
int config_get(const CommandLine& line, const Environment& environment);
int config_set(const CommandLine& line, const Environment& environment);
int config_check(const CommandLine& line, const Environment& environment);
int config_import(const CommandLine& line, const Environment& environment);
int config_schema(const CommandLine& line, const Environment& environment);
int completion(const CommandLine& line, const Environment& environment);
/// The check of a new machine; 1 if ranks found faults.
int test(const CommandLine& line, const Environment& environment);
int env(const CommandLine& line, const Environment& environment);
/// `muster help [COMMAND]`, which is `muster [COMMAND] --help`; with --man, muster(1).
int help(const CommandLine& line, const Environment& environment);
int print_version(const CommandLine& line, const Environment& environment);

/// The help of the command that find_command finds, or of all with an empty name; empty if there is
/// none such. `width` is that of the screen.
std::string help_of(std::string_view name, int width);

/// Finds the command that the words after "muster" name, and runs it; prints what it throws. The
/// exit code.
int run(Words words, const Environment& environment);

}  // namespace muster::launcher
