#pragma once

#include <muster/resolve.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace muster {

/// A setting as one source gives it.
struct Given {
  const Setting* setting = nullptr;
  Value value;
  Origin origin;
  std::map<std::string, Origin> items;  ///< Of a map.
};

/// What a file says, and all that is wrong with it, in the order of its lines.
struct FileContent {
  std::vector<Given> given;
  std::vector<std::string> faults;
};

/// Who may have written a file that nobody named.
enum class Trust {
  named,   ///< The user named it: anybody.
  unnamed  ///< The user, root, or the owner of its folder; and not everybody.
};

/// The text of a settings file; nothing if there is none. Never blocks. Throws ConfigError for what
/// is no regular file, cannot be read, is too large, is not text, or is not to be trusted.
std::optional<std::string> read_settings_file(const std::filesystem::path& path,
                                              const std::string& name, Trust trust);

/// `name` is how messages and origins call the file.
FileContent parse_settings(const std::string& text, const std::string& name, Origin::Kind kind);

}  // namespace muster
