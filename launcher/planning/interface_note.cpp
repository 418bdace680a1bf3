#include "planning/interface_note.hpp"

#include "screen/printable.hpp"
#include "supervise/rank_image.hpp"
#include "text.hpp"
#include "topology/network.hpp"

#include <fmt/format.h>

#include <net/if.h>
#include <set>

namespace muster::launcher {

std::string interface_note(const Plan& plan) {
  const std::string variable = "GLOO_SOCKET_IFNAME";
  const auto value = variable_of(plan.ranks.front(), variable);
  for (const auto part : split(value, ',')) {
    const std::string name(part);
    if (::if_nametoindex(name.c_str()) != 0) continue;
    std::set<std::string> names;
    for (const auto& one : discover_network()) names.insert(one.name);
    return fmt::format(
        "{}={}: this host has no network interface '{}', but {}; Gloo takes names, and no patterns",
        variable, printable(value), printable(name), fmt::join(names, ", "));
  }
  return "";
}

}  // namespace muster::launcher
