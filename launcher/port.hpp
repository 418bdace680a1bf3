#pragma once

#include <muster/error.hpp>

#include "unique_fd.hpp"

#include <cstdint>
#include <string>

namespace muster::launcher {

/// A TCP port that is bound but not listened on: nobody else can take it while `socket` lives, yet
/// a store of rank 0, ours or a foreign program's, can still bind and listen there (SO_REUSEADDR).
struct ReservedPort {
  UniqueFd socket;
  std::string address;
  std::uint16_t port = 0;
  UniqueFd name;  ///< No other job of ours gets the port while this lives.
};

/// Another program has the port.
class PortTaken : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

/// Binds `port` (0: the kernel chooses a free one) on the literal IPv4 or IPv6 `address`.
/// Throws PortTaken or, if it cannot be bound, ConfigError, which name the port and how to get a
/// free one; Error if there are no descriptors left.
ReservedPort reserve_port(const std::string& address, std::uint16_t port);

}  // namespace muster::launcher
