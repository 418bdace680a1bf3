#pragma once

#include "topology/sysroot.hpp"

#include <string>
#include <vector>

namespace muster::launcher {

/// A network interface that is up, with one of its addresses.
struct NetworkInterface {
  std::string name;
  std::string address;
  bool loopback = false;
  bool reaches_others = false;  ///< The kernel would send to other networks through it.
  bool inside = false;          ///< A bridge or a pair for containers and virtual machines.
};

/// A port of an InfiniBand or RoCE device.
struct RdmaPort {
  std::string name;   ///< "mlx5_0", with "/2" after it for a second port.
  std::string state;  ///< "ACTIVE", "DOWN"
  std::string rate;   ///< "400 Gb/sec (4X NDR)"
  std::string link;   ///< "InfiniBand" or "Ethernet"
};

/// Those of this host; no packet is sent. Link-local addresses are left out.
std::vector<NetworkInterface> discover_network();

std::vector<RdmaPort> discover_rdma(const Sysroot& root);

/// What ranks of several hosts would reach this one at: the address of the interface through which
/// the kernel reaches others, else the first that is not for this host alone; empty if none is.
std::string outward_address(const std::vector<NetworkInterface>& network);

}  // namespace muster::launcher
