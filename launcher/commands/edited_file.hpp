#pragma once

#include <muster/settings_editor.hpp>
#include <muster/world.hpp>

#include "arguments/command_line.hpp"

#include <filesystem>
#include <string>

namespace muster::launcher {

/// The settings file that a command is to change.
struct EditedFile {
  std::filesystem::path path;
  std::string name;    ///< For messages: "./muster.toml".
  std::string launch;  ///< How a launch is told of it: "--config job.toml "; empty: by itself.
  bool named = false;  ///< By the user, who then wants it whoever it belongs to.
};

/// --config FILE, or with --user the file of all of this user's jobs, else ./muster.toml.
/// Throws ConfigError for both, and for a user without a home.
EditedFile edited_file(const CommandLine& line, const Environment& environment);

SettingsEditor open_file(const EditedFile& file);

}  // namespace muster::launcher
