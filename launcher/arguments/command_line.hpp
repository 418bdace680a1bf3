#pragma once

#include <muster/flags.hpp>

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
};

/// The words after a command's name, taken apart. Nothing is checked but the words themselves.
struct CommandLine {
  std::vector<GivenFlag> settings;   ///< As typed, in order; other launchers' are translated.
  std::vector<GivenFlag> own;        ///< The command's own, in order.
  std::vector<std::string> program;  ///< Its name and arguments, byte for byte.
  bool module = false;               ///< -m: the program's name is a Python module.
  std::vector<std::string> notes;    ///< Flags that have no effect here, and why.

  bool has(std::string_view flag) const;
  /// The last one given counts.
  std::optional<std::string> value(std::string_view flag) const;
};

/// Options end at `--`, at `-m`, or at the first word that is none: what follows is the program's.
/// Throws ConfigError for an unknown option (with the nearest known one), and for values that are
/// missing or not wanted. `so_far`, if given, holds what was understood until then.
CommandLine parse_words(std::span<const std::string> words, const CommandGrammar& grammar,
                        CommandLine* so_far = nullptr);

}  // namespace muster::launcher
