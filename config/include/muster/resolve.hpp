#pragma once

#include <muster/flags.hpp>
#include <muster/setting.hpp>
#include <muster/settings.hpp>
#include <muster/world.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

/// Where a value came from. Later kinds win over earlier ones.
struct Origin {
  enum class Kind {
    built_in,
    discovered,
    scheduler,
    user_file,
    project_file,
    config_file,
    variable,
    flag,
    code,
  };
  Kind kind = Kind::built_in;
  std::string name;  ///< File, variable, flag (as typed), or who found it.
  int line = 0;      ///< Of a file.

  bool operator==(const Origin&) const = default;
};
/// "built-in", "muster.toml:2", "MUSTER_TRAIN_STRATEGY", "--mixed-precision", "code"
std::string to_text(const Origin& origin);

/// A value that something other than a person gives: what was found, a scheduler, or code.
struct GivenValue {
  std::string id;  ///< "launch.num_processes"
  Value value;
  std::string by;  ///< "slurm", "usable devices", ...; unused for code.
};

/// All that settings can come from.
struct Sources {
  std::vector<GivenFlag> flags;  ///< Of settings; other launchers' went through translate().
  Environment environment;
  std::optional<std::filesystem::path> config_file;  ///< --config
  bool no_config = false;                            ///< --no-config
  std::filesystem::path working_directory = ".";
  std::vector<GivenValue> scheduler;
  std::vector<GivenValue> discovered;
};

/// A setting with its value, its origin, and what that hides.
struct Entry {
  const Setting* setting = nullptr;
  Value value;
  Origin origin;
  /// The nearest first; without the built-in. Of a map: one name each.
  std::vector<std::pair<Value, Origin>> hidden;
  std::map<std::string, Origin> items;  ///< Of a map: where each name came from.
  const Setting* decided_by = nullptr;  ///< The member of its group that cleared this one.
};

/// Settings, all resolved.
class Resolution {
 public:
  const Settings& settings() const noexcept { return settings_; }
  /// In the table's order.
  const std::vector<Entry>& entries() const noexcept { return entries_; }
  /// By "section.key". Throws std::out_of_range for a key that no row has.
  const Entry& entry(std::string_view id) const;

  /// The variables for the ranks: every setting that is not built-in, and MUSTER_EXPORTED, which
  /// names them.
  Environment exported() const;
  /// Variables that an outer launcher exported: not used, to be removed from the ranks' environment
  /// (before exported() is added).
  const std::vector<std::string>& inherited() const noexcept { return inherited_; }

  /// Lines worth telling, such as "settings from ./muster.toml".
  const std::vector<std::string>& notes() const noexcept { return notes_; }
  /// One line for each setting that both code and a person gave, with both values.
  std::vector<std::string> overruled_by_code() const;

 private:
  friend class Resolver;
  Settings settings_;
  std::vector<Entry> entries_;
  std::vector<std::string> inherited_;
  std::vector<std::string> notes_;
};

/// $XDG_CONFIG_HOME/muster/config.toml, or else ~/.config/muster/config.toml; empty if the
/// environment has neither.
std::filesystem::path user_settings_file(const Environment& environment);

/// For the launcher: reads files, variables and flags.
/// Throws one ConfigError that holds all faults, one a line.
Resolution resolve(const Sources& sources);

/// For a rank: reads no file; variables, then what code says. Throws like resolve().
Resolution resolve_in_rank(const Environment& environment,
                           const std::vector<GivenValue>& code = {});

}  // namespace muster
