#pragma once

#include <muster/flags.hpp>
#include <muster/resolve.hpp>

#include <span>
#include <string>
#include <string_view>

namespace muster {

/// The text of `muster config show`: TOML that, without origins, reads back to the same settings
/// but for the values of secret names in maps, which are hidden. If asked, each setting has its
/// origin beside it, and what it hides: "muster.toml:2  (hides 4 from config.toml:1)".
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
