#pragma once

#include <string>

namespace muster::launcher {

/// The literal address for `master_addr`: empty is loopback, a literal stays as it is, a name is
/// looked up. Ranks must get an address, never a name, because hosts disagree about names. Throws
/// ConfigError for a name without an address.
std::string literal_address(const std::string& master_addr);

}  // namespace muster::launcher
