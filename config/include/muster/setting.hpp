#pragma once

#include <muster/settings.hpp>
#include <muster/value.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace muster {

enum class ValueKind { boolean, integer, number, seconds, text, list, map };

/// How a row reaches its struct member; made from the member by the table, so that the kind of a
/// row and the type of its member cannot differ.
struct SettingMember {
  ValueKind kind;
  bool allows_auto;  ///< `auto` is legal.
  bool allows_none;  ///< `none` is legal: undoes what a lower level says.
  Value (*read)(const Settings&);
  void (*write)(Settings&, const Value&);
  std::int64_t lowest = 0, highest = 0;  ///< integer: what the member's type can hold.
};

/// One row of the settings table. The default is the member's initialiser, nothing else.
struct Setting {
  std::string_view section;
  std::string_view key;  ///< As in a TOML file: snake_case.
  SettingMember member;
  std::string_view help;           ///< One sentence, for --help and README.
  std::string_view question = "";  ///< What the wizard asks; empty: it does not.
  std::string_view unit = "";
  std::string_view word = "";     ///< The value's name in --help: N, T, ...; empty: the choices.
  std::string_view choices = "";  ///< Of a text, or of a list's parts; empty: anything.
  double minimum = std::numeric_limits<double>::lowest();
  double maximum = std::numeric_limits<double>::max();
  std::string_view group = "";  ///< Rows of one group decide the same thing.
  char short_flag = 0;
  bool collects = false;  ///< A list whose flag, given twice, holds both.
  bool integers = false;  ///< Text or list that may be written as whole numbers in a file.
  bool (*check)(const Value&) = nullptr;  ///< The row's own rule; null: none.
  std::string_view expects = "";          ///< What that rule wants, or choices, in words.

  std::string id() const;        ///< "train.strategy"
  std::string flag() const;      ///< "--strategy", "--log-level"
  std::string variable() const;  ///< "MUSTER_TRAIN_STRATEGY"; empty for maps.
  constexpr bool takes_value() const noexcept { return member.kind != ValueKind::boolean; }
  Value default_value() const;
  /// "a whole number of at least 1, or auto"
  std::string expectation() const;
};

/// Every setting, in the order in which it is shown; rows of a section are neighbours.
std::span<const Setting> settings_table() noexcept;

/// Null if there is none. `flag` as typed: "--num_processes", "--num-processes", "-n".
const Setting* find_setting_by_flag(std::string_view flag);
const Setting* find_setting_by_id(std::string_view id);
const Setting* find_setting_by_variable(std::string_view name);

/// Reads a flag's or variable's text, whole. Throws ConfigError whose text is what was expected.
Value parse_value(const Setting& setting, std::string_view text);

/// Range, choices and the row's own rule. Throws ConfigError whose text is what was expected.
void check_value(const Setting& setting, const Value& value);

}  // namespace muster
