#include "meeting_place.hpp"

#include <muster/error.hpp>

#include "topology/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <netdb.h>
#include <optional>
#include <thread>

namespace muster::launcher {
namespace {

using Clock = std::chrono::steady_clock;

struct Found {
  std::vector<Endpoint> addresses;
  std::string fault;  ///< Why there is none.
};

Found look_up(const std::string& name, std::uint16_t port) {
  if (const auto literal = literal_endpoint(name, port)) return {{*literal}, ""};
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(name.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (error != 0) return {{}, ::gai_strerror(error)};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, ::freeaddrinfo);
  Found found;
  for (const auto* entry = list; entry != nullptr; entry = entry->ai_next) {
    Endpoint endpoint;
    endpoint.size = entry->ai_addrlen;
    std::copy_n(reinterpret_cast<const char*>(entry->ai_addr), entry->ai_addrlen,
                reinterpret_cast<char*>(&endpoint.storage));
    if (std::ranges::find(found.addresses, endpoint) == found.addresses.end())
      found.addresses.push_back(endpoint);
  }
  return found;
}

/// How messages name the address and what it is for.
struct Asked {
  std::string address;  ///< Without brackets.
  std::string option;   ///< "--master-addr a"
  std::string limit;    ///< "--rdzv-timeout"
  bool binds = false;   ///< It is --bind-addr's.

  bool is_literal() const { return literal_endpoint(address, 0).has_value(); }
};

using Tell = std::function<void(const std::string&)>;

/// Again and again, for as long as the hosts have to meet.
Found wait_for_name(const Asked& asked, std::uint16_t port, Seconds timeout, const Tell& tell) {
  const auto end = Clock::now() + std::min(timeout, Seconds(1e8));
  auto found = look_up(asked.address, port);
  if (found.addresses.empty()) tell("waiting: " + asked.option + ": " + found.fault);
  while (found.addresses.empty() && Clock::now() < end) {
    std::this_thread::sleep_for(std::min(Seconds(end - Clock::now()), Seconds(1)));
    found = look_up(asked.address, port);
  }
  if (!found.addresses.empty()) return found;
  throw Error(fmt::format("after {:g} s ({}): {}: {}", timeout.count(), asked.limit, asked.option,
                          found.fault),
              ExitCode::timed_out);
}

std::string names_of(const std::vector<Endpoint>& addresses) {
  std::vector<std::string> names;
  for (const auto& one : addresses) names.push_back(one.address());
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string interfaces_text() {
  std::vector<std::string> names;
  for (const auto& one : discover_network())
    if (!one.loopback) names.push_back(one.address + " (" + one.name + ")");
  return names.empty() ? "none but loopback" : fmt::format("{}", fmt::join(names, ", "));
}

/// The address of ours that others reach, of the kind of `loopback`, where that is clear.
std::optional<Endpoint> outside_address(const Endpoint& loopback, std::string& interface) {
  std::vector<NetworkInterface> outside;
  for (const auto& one : discover_network()) {
    const auto endpoint = literal_endpoint(one.address, 0);
    if (!one.loopback && endpoint && endpoint->family() == loopback.family())
      outside.push_back(one);
  }
  auto chosen = std::ranges::find_if(outside, &NetworkInterface::reaches_others);
  if (chosen == outside.end() && outside.size() == 1) chosen = outside.begin();
  if (chosen == outside.end()) return std::nullopt;
  interface = chosen->name;
  return literal_endpoint(chosen->address, loopback.port());
}

/// The one of a name's addresses that node 0 listens on.
Endpoint own_address(const Asked& asked, std::vector<Endpoint> found, const Tell& tell) {
  std::erase_if(found, [](const Endpoint& one) { return !one.is_ours(); });
  const auto outside =
      std::ranges::find_if(found, [](const Endpoint& one) { return !one.is_loopback(); });
  if (outside != found.end()) return *outside;
  if (asked.is_literal() || asked.address == "localhost") return found.front();
  const auto fault =
      asked.option + " is " + names_of(found) + " on this host, which others do not reach";
  std::string interface;
  const auto guess = outside_address(found.front(), interface);
  if (!guess) throw ConfigError(fault + "; give one of its addresses: " + interfaces_text());
  tell(fmt::format("{}: listening on {} ({})", fault, guess->address(), interface));
  return *guess;
}

std::string place_text(const Asked& asked, const std::vector<Endpoint>& addresses) {
  if (asked.is_literal()) return addresses.front().text();
  return fmt::format("{}:{} ({})", asked.address, addresses.front().port(), names_of(addresses));
}

[[noreturn]] void refuse_foreign_address(const Asked& asked, const std::vector<Endpoint>& found) {
  const auto stands_for = asked.is_literal() ? "" : " (" + names_of(found) + ")";
  auto text = asked.option + stands_for +
              ": node 0 listens there, and this host has not that address, but " +
              interfaces_text();
  if (!asked.binds) text += "; --bind-addr names its own, if others reach it by another one";
  throw ConfigError(text);
}

}  // namespace

std::string without_brackets(const std::string& address) {
  const bool has = address.size() > 2 && address.front() == '[' && address.back() == ']';
  return has ? address.substr(1, address.size() - 2) : address;
}

MeetingPlace find_meeting_place(const LaunchSettings& settings, const SettingNames& names,
                                std::uint16_t port, const Tell& tell) {
  const bool binds = !settings.bind_addr.empty();
  const auto& address = binds ? settings.bind_addr : settings.master_addr;
  const Asked asked{without_brackets(address),
                    names.of(binds ? "launch.bind_addr" : "launch.master_addr") + " " + address,
                    names.of("launch.rdzv_timeout"), binds};
  const bool told_to_listen = binds || settings.node_rank.value == 0;
  const auto found = told_to_listen ? look_up(asked.address, port)
                                    : wait_for_name(asked, port, settings.rdzv_timeout, tell);
  if (found.addresses.empty())
    throw ConfigError(asked.option + ": " + found.fault + "; this host has " + interfaces_text());
  MeetingPlace place;
  place.text = place_text(asked, found.addresses);
  const bool ours =
      std::ranges::any_of(found.addresses, [](const Endpoint& one) { return one.is_ours(); });
  if (told_to_listen && !ours) refuse_foreign_address(asked, found.addresses);
  place.listens = told_to_listen || (settings.node_rank.is_auto() && ours);
  place.by_arrival = place.listens && !told_to_listen;
  place.addresses = found.addresses;
  if (place.listens) place.addresses = {own_address(asked, found.addresses, tell)};
  return place;
}

}  // namespace muster::launcher
