#pragma once

#include <muster/setting_names.hpp>

#include <string>

namespace muster::launcher {

/// The literal address for `master_addr`: empty is loopback, a literal stays as it is (but for
/// brackets), a name is looked up. Ranks must get an address, never a name, because hosts disagree
/// about names. Throws ConfigError, which names settings by `names`, for a name without an address.
std::string literal_address(const std::string& master_addr, const SettingNames& names = {});

}  // namespace muster::launcher
