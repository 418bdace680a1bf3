#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace muster {

class Resolution;

/// How messages name settings: by what gave the value, so that a person finds it.
class SettingNames {
 public:
  /// All by their flags.
  SettingNames() = default;
  /// By where each value of `resolution` came from.
  explicit SettingNames(const Resolution& resolution);

  /// "--devices" (as typed), "MUSTER_LAUNCH_DEVICES", or "muster.toml:2: launch.devices". `item` is
  /// a name of a map: "--env", "muster.toml:7: launch.env.PATH".
  std::string of(std::string_view id, std::string_view item = {}) const;

 private:
  std::map<std::string, std::string, std::less<>> names_;  ///< Where they are not flags.
};

}  // namespace muster
