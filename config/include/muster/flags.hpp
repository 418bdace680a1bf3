#pragma once

#include <muster/setting.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// A flag that was typed: its name ("--num_processes", "-n"), and its value if it has one.
struct GivenFlag {
  std::string name;
  std::optional<std::string> value;
  std::string typed;  ///< The flag that was translated to this one; empty: this one.
};

/// A flag of a command that is no setting, such as --dry-run or --config F. The command owns it.
struct CommandFlag {
  std::string_view name;  ///< "--dry-run"
  char short_flag = 0;
  std::string_view word = "";  ///< The value's name in --help; empty: takes no value.
  std::string_view help = "";
  bool optional = false;  ///< The value may be left out; then only "=" gives it.
};

/// What is done with a flag of another launcher.
enum class ForeignKind {
  spelling,     ///< Another name of one of our flags; the value is handed on.
  constant,     ///< Means one of our flags with a fixed value.
  translation,  ///< The value is rewritten.
  ignored,      ///< Has no meaning here and needs none; a note says so.
  refused,      ///< Cannot be done; the error says what to do instead.
};

/// A row of the table of other launchers' flags.
struct ForeignFlag {
  std::string_view name;  ///< "--main-process-port"; a `*` at the end stands for any rest.
  ForeignKind kind;
  bool takes_value;
  std::string_view target;  ///< spelling, constant ("--devices=cpu"): our flag.
  std::string_view text;    ///< ignored: the note; refused: the advice.
  std::vector<GivenFlag> (*translate)(const GivenFlag&, std::vector<std::string>& notes) = nullptr;
};
std::span<const ForeignFlag> foreign_flags() noexcept;

/// A flag word of the command line, looked up: at most one of the three pointers is set.
struct FlagWord {
  std::string name;                  ///< "--devices" of "--devices=0,2", "-n" of "-n4".
  std::optional<std::string> value;  ///< The part after "=" or the short flag.
  const Setting* setting = nullptr;
  const CommandFlag* command = nullptr;
  const ForeignFlag* foreign = nullptr;

  bool known() const noexcept { return setting || command || foreign; }
  /// True if the next word of the command line is its value.
  bool wants_next() const noexcept;
};

/// Looks up one word that starts with `-`: first the command's own flags, then settings, then other
/// launchers' spellings. `-` and `_` are alike after the first two letters; "--x=v", "-n4" and
/// "-n=4" are split.
FlagWord look_up(std::string_view text, std::span<const CommandFlag> own = {});

/// Our flags for a flag of another launcher (possibly none); any other flag comes back as it is.
/// Notes are lines worth telling. Throws ConfigError with advice for what cannot be done.
std::vector<GivenFlag> translate(const GivenFlag& flag, std::vector<std::string>& notes);

/// "unknown option '--num-procesess'; did you mean --num-processes?"
std::string unknown_flag(std::string_view typed, std::span<const CommandFlag> own = {});

}  // namespace muster
