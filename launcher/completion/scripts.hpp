#pragma once

#include <string_view>

namespace muster::launcher {

/// The script that makes a shell ask `muster completion --words` what may follow. Throws
/// ConfigError for a shell other than bash, zsh and fish.
std::string_view completion_script(std::string_view shell);

}  // namespace muster::launcher
