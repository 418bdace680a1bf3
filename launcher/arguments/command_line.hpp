#pragma once

#include <muster/error.hpp>
#include <muster/flags.hpp>

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// What a command accepts, besides its own flags.
struct CommandGrammar {
  std::string_view name;             ///< "launch", for messages.
  std::span<const CommandFlag> own;  ///< Flags that are no settings.
  bool settings = false;             ///< Settings flags, and other launchers' spellings of them.
  bool program = false;              ///< A program and its arguments follow.
  bool operands = false;             ///< Words of its own, before, between and behind the flags.
};

/// A command's own options by name, each with its last value (empty for one that takes none).
using Options = std::map<std::string, std::string, std::less<>>;

/// The words of a command taken apart. Nothing is checked but the words themselves.
struct CommandLine {
  std::vector<std::string> typed;    ///< All words after "muster".
  std::vector<GivenFlag> settings;   ///< As typed, in order; other launchers' are translated.
  std::vector<std::string> own;      ///< The command's own: "--name" or "--name==value", for CLI11.
  Options options;                   ///< What CLI11 makes of them.
  std::vector<std::string> program;  ///< Its name and arguments, byte for byte.
  std::vector<std::string> operands;  ///< The words of a command that takes some.
  bool module = false;                ///< -m: the program's name is a Python module.
  std::vector<std::string> notes;     ///< Flags that have no effect here, and why.
  /// The first mistake: an unknown option (with the nearest known one), or a value that is missing
  /// or not wanted. What else the words say is understood nevertheless: --help and --report count.
  std::optional<ConfigError> fault;

  bool has(std::string_view flag) const { return options.contains(flag); }
  std::optional<std::string> value(std::string_view flag) const;
  /// All values of one of the command's own flags that may be given several times.
  std::vector<std::string> values(std::string_view flag) const;
};

/// Fills `line` but for `typed` and `options`. The launcher's words end at `--`, at `-m`, or at the
/// first word that is no option: what follows is the program's. Where there are operands instead,
/// options may follow them, up to `--`.
void split_words(std::span<const std::string> words, const CommandGrammar& grammar,
                 CommandLine& line);

}  // namespace muster::launcher
