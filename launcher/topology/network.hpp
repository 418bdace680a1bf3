#pragma once

#include <string>
#include <vector>

namespace muster::launcher {

/// A network interface that is up, with one of its addresses.
struct NetworkInterface {
  std::string name;
  std::string address;
  bool loopback = false;
  bool reaches_others = false;  ///< The kernel would send to other networks through it.
};

/// Those of this host; no packet is sent. Link-local addresses are left out.
std::vector<NetworkInterface> discover_network();

}  // namespace muster::launcher
