#pragma once

#include <muster/setting.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace muster::launcher {

/// A setting by its key, as in `muster config get launch.threads`.
struct SettingKey {
  const Setting* setting = nullptr;
  std::optional<std::string> item;  ///< A name of a map: NAME of "launch.env.NAME".
};

/// Throws ConfigError naming the nearest key.
SettingKey find_key(std::string_view text);

/// The key's value out of the text of a flag: a map's is NAME=VALUE, and the value alone where the
/// key names the item. Throws ConfigError with what was expected.
Value parse_for(const SettingKey& key, std::string_view text);

/// "launch.threads=4" in two. Throws ConfigError too for a text without "=".
std::pair<const Setting*, Value> parse_assignment(std::string_view text);

}  // namespace muster::launcher
