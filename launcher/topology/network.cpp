#include "topology/network.hpp"

#include "unique_fd.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace muster::launcher {
namespace {

socklen_t size_of(const sockaddr& address) {
  return address.sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
}

std::string text_of(const sockaddr& address) {
  char text[INET6_ADDRSTRLEN + IF_NAMESIZE + 1] = {};
  const int error =
      ::getnameinfo(&address, size_of(address), text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return error == 0 ? text : "";
}

bool is_inside(std::string_view name) {
  for (const std::string_view start :
       {"docker", "veth", "cni", "virbr", "br-", "flannel", "cali"}) {
    if (name.starts_with(start)) return true;
  }
  return false;
}

/// Our address towards the world: a connected datagram socket tells it and sends nothing.
std::string route_address() {
  const UniqueFd probe(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in far{};
  far.sin_family = AF_INET;
  far.sin_port = htons(9);
  ::inet_pton(AF_INET, "192.0.2.1", &far.sin_addr);  // Reserved for documentation.
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (::connect(probe.get(), reinterpret_cast<sockaddr*>(&far), sizeof far) != 0) return "";
  if (::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0) return "";
  return text_of(reinterpret_cast<sockaddr&>(own));
}

}  // namespace

std::vector<NetworkInterface> discover_network() {
  std::vector<NetworkInterface> interfaces;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return interfaces;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, ::freeifaddrs);
  const auto outward = route_address();
  for (const auto* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0) continue;
    const auto family = entry->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    auto address = text_of(*entry->ifa_addr);
    if (address.empty() || address.starts_with("fe80:")) continue;
    const bool outside = address == outward;
    interfaces.push_back({entry->ifa_name, std::move(address),
                          (entry->ifa_flags & IFF_LOOPBACK) != 0, outside,
                          !outside && is_inside(entry->ifa_name)});
  }
  return interfaces;
}

std::vector<RdmaPort> discover_rdma(const Sysroot& root) {
  std::vector<RdmaPort> ports;
  const std::string above = "/sys/class/infiniband";
  for (const auto& device : root.list(above)) {
    for (const auto& number : root.list(above + "/" + device + "/ports")) {
      const auto folder = above + "/" + device + "/ports/" + number;
      auto state = root.read(folder + "/state").value_or("");  // "4: ACTIVE"
      state.erase(0, state.find(": ") == state.npos ? 0 : state.find(": ") + 2);
      ports.push_back({device + (number == "1" ? "" : "/" + number), state,
                       root.read(folder + "/rate").value_or(""),
                       root.read(folder + "/link_layer").value_or("")});
    }
  }
  return ports;
}

std::string outward_address(const std::vector<NetworkInterface>& network) {
  std::string first;
  for (const auto& one : network) {
    if (one.reaches_others) return one.address;
    if (first.empty() && !one.loopback && !one.inside) first = one.address;
  }
  return first;
}

}  // namespace muster::launcher
