#pragma once

#include <muster/setting_names.hpp>
#include <muster/settings.hpp>

#include "endpoint.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace muster::launcher {

/// Where hosts meet, as this one sees it.
struct MeetingPlace {
  bool listens = false;             ///< This is node 0.
  bool by_arrival = false;          ///< It is, unless another launcher here came first.
  std::vector<Endpoint> addresses;  ///< To listen on (one), or to try in turn.
  std::string text;  ///< "10.0.0.1:29500"; of a name also what it stands for: "a:29500 (10.0.0.1)"
};

/// The port of several hosts, without a person's wish.
inline constexpr std::uint16_t default_meeting_port = 29500;

/// Looks the name of `master_addr` up, for as long as `timeout` if this is not node 0 (a cluster
/// may learn it late), and decides who this host is: node 0 if it is told so, if it is given an
/// address to listen on, or if the master's address is its own and nobody says which node it is.
/// Blocks. A name that is loopback here, as a host's own often is, is the address that others
/// reach, if there is one; `tell` says which. Throws ConfigError if node 0 cannot listen there.
MeetingPlace find_meeting_place(const LaunchSettings& settings, const SettingNames& names,
                                std::uint16_t port,
                                const std::function<void(const std::string&)>& tell);

/// `[::1]` without its brackets.
std::string without_brackets(const std::string& address);

}  // namespace muster::launcher
