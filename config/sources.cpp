#include <muster/contract.hpp>
#include <muster/error.hpp>
#include <muster/nearest.hpp>

#include "resolver.hpp"
#include "text.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

namespace muster {
namespace {

constexpr std::string_view ours = "MUSTER_";

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string value_of(const Environment& environment, std::string_view name) {
  const auto found = environment.find(std::string(name));
  return found == environment.end() ? "" : found->second;
}

/// MUSTER_LAUNCH_...: surely meant for us.
bool names_a_section(std::string_view variable) {
  const auto table = settings_table();
  return std::any_of(table.begin(), table.end(), [&](const Setting& row) {
    return variable.starts_with(std::string(ours) + upper(row.section) + "_");
  });
}

std::string shown_text(std::string_view text) { return text.empty() ? "nothing" : excerpt(text); }

}  // namespace

std::filesystem::path user_settings_file(const Environment& environment) {
  const std::filesystem::path config = value_of(environment, "XDG_CONFIG_HOME");
  if (config.is_absolute()) return config / "muster" / "config.toml";
  const std::filesystem::path home = value_of(environment, "HOME");
  if (home.is_absolute()) return home / ".config" / "muster" / "config.toml";
  return {};
}

void Resolver::read_flags(const std::vector<GivenFlag>& flags) {
  for (const GivenFlag& flag : flags) {
    try {
      read_flag(flag);
    } catch (const ConfigError& error) {
      faults_.emplace_back(error.what());
    }
  }
}

void Resolver::read_flag(const GivenFlag& flag) {
  const std::string& typed = flag.typed.empty() ? flag.name : flag.typed;
  const Setting* setting = find_setting_by_flag(flag.name);
  if (!setting) throw ConfigError(unknown_flag(typed));
  if (setting->takes_value() && !flag.value) {
    throw ConfigError(typed + " needs a value: " + setting->expectation());
  }
  const std::string text = flag.value.value_or("true");
  // What may be secret is not repeated.
  const std::string shown = setting->member.kind == ValueKind::map ? "" : " " + shown_text(text);
  try {
    if (setting->member.kind == ValueKind::list && text.empty()) {
      throw ConfigError(setting->expectation());
    }
    add({setting, parse_value(*setting, text), {Origin::Kind::flag, typed, 0}, {}});
  } catch (const ConfigError& error) {
    throw ConfigError(typed + shown + ": expected " + error.what());
  }
}

void Resolver::read_variables(const Environment& environment, bool in_rank) {
  const std::string list = value_of(environment, contract::exported);
  const auto exported = split(list, ',');
  for (auto at = environment.lower_bound(std::string(ours));
       at != environment.end() && at->first.starts_with(ours); ++at) {
    const auto& [name, text] = *at;
    if (contains(contract::of_a_rank, name) || contains(contract::of_launchers, name) ||
        contains(contract::of_the_build, name))
      continue;
    const bool inherited = contains(exported, name);
    if (inherited && !in_rank) {
      result_.inherited_.push_back(name);
    } else if (find_setting_by_variable(name)) {
      read_variable(name, text);
    } else {
      // A launcher that is newer than this program may export what the program does not know.
      read_unknown_variable(name, !inherited);
    }
  }
}

void Resolver::read_variable(const std::string& name, const std::string& text) {
  const Setting& setting = *find_setting_by_variable(name);
  try {
    add({&setting, parse_value(setting, text), {Origin::Kind::variable, name, 0}, {}});
  } catch (const ConfigError& error) {
    faults_.push_back(name + " = " + shown_text(text) + ": expected " + error.what());
  }
}

void Resolver::read_unknown_variable(const std::string& name, bool is_fault) {
  std::vector<std::string> known;
  for (const Setting& row : settings_table()) {
    if (row.member.kind != ValueKind::map) {
      known.push_back(row.variable());
    } else if (name == "MUSTER_" + upper(row.section) + "_" + upper(row.key)) {
      faults_.push_back(name + ": " + row.id() + " has no variable; use " + row.flag() +
                        " or a settings file");
      return;
    }
  }
  const std::string hint = did_you_mean(name, known);
  if (is_fault && (names_a_section(name) || !hint.empty())) {
    faults_.push_back("unknown variable '" + excerpt(name) + "'" + hint);
  } else {
    result_.notes_.push_back(name + " has no effect: no setting of this version has this name");
  }
}

void Resolver::read_files(const Sources& sources) {
  if (sources.no_config) {
    if (sources.config_file) faults_.emplace_back("--config and --no-config: give one of them");
    return;
  }
  std::string used;
  if (sources.config_file && sources.config_file->empty()) {
    faults_.emplace_back("--config needs the name of a file; --no-config reads none");
  } else if (sources.config_file) {
    read_file(sources.working_directory / *sources.config_file, sources.config_file->string(),
              Origin::Kind::config_file);
  } else if (read_file(sources.working_directory / "muster.toml", "muster.toml",
                       Origin::Kind::project_file)) {
    used = "./muster.toml";
  }
  const auto user = user_settings_file(sources.environment);
  if (!user.empty() && read_file(user, user.string(), Origin::Kind::user_file)) {
    used += (used.empty() ? "" : " and ") + user.string();
  }
  if (!used.empty()) result_.notes_.push_back("settings from " + used);
}

bool Resolver::is_out_of_reach(const std::filesystem::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) return false;
  if (errno == EACCES) {
    result_.notes_.push_back(path.string() + " is not looked at: its folder may not be entered");
  }
  return errno == EACCES || errno == ENOTDIR;
}

bool Resolver::read_file(const std::filesystem::path& path, const std::string& name,
                         Origin::Kind kind) {
  const Trust trust = kind == Origin::Kind::project_file ? Trust::unnamed : Trust::named;
  if (kind == Origin::Kind::user_file && is_out_of_reach(path)) return false;
  try {
    const auto text = read_settings_file(path, name, trust);
    if (!text && kind == Origin::Kind::config_file) {
      throw ConfigError("--config " + name + ": no such file");
    }
    if (!text) return false;
    FileContent content = parse_settings(*text, name, kind);
    faults_.insert(faults_.end(), content.faults.begin(), content.faults.end());
    const bool sets_something = !content.given.empty();
    for (Given& given : content.given) add(std::move(given));
    return sets_something;
  } catch (const ConfigError& error) {
    faults_.emplace_back(error.what());
    return false;
  }
}

Resolution resolve(const Sources& sources) {
  Resolver resolver;
  resolver.read_flags(sources.flags);
  resolver.read_variables(sources.environment, false);
  resolver.read_files(sources);
  resolver.take(sources.scheduler, Origin::Kind::scheduler);
  resolver.take(sources.discovered, Origin::Kind::discovered);
  return resolver.decide();
}

Resolution resolve_in_rank(const Environment& environment, const std::vector<GivenValue>& code) {
  Resolver resolver;
  resolver.read_variables(environment, true);
  resolver.take(code, Origin::Kind::code);
  return resolver.decide();
}

}  // namespace muster
