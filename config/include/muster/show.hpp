#pragma once

#include <muster/flags.hpp>
#include <muster/resolve.hpp>

#include <span>
#include <string>
#include <string_view>

namespace muster {

/// The text of `muster config show`: TOML that reads back to the same settings, each with its
/// origin beside it if asked. Values of secret names in maps are hidden.
std::string show(const Resolution& resolution, bool with_origin);

/// Lines of --help for the settings of the sections, aligned, `width` columns wide; flags of the
/// command itself first. Ends with a newline.
std::string help_text(std::span<const CommandFlag> own, std::size_t width = 80);

/// The table of config/README.md.
std::string settings_as_markdown();
/// The table of other launchers' flags of config/README.md.
std::string foreign_flags_as_markdown();

/// True for names whose values are never shown: *TOKEN*, *SECRET*, *PASSWORD*, *_KEY.
bool is_secret_name(std::string_view name);

}  // namespace muster
