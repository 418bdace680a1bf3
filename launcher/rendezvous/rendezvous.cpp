#include "rendezvous.hpp"

#include <muster/error.hpp>
#include <muster/value.hpp>
#include <muster/version.hpp>

#include "rendezvous/gathering.hpp"
#include "rendezvous/inquiry.hpp"
#include "rendezvous/joining.hpp"
#include "supervise/descriptors.hpp"

#include <fmt/core.h>

namespace muster::launcher {
namespace {

/// Of words, so that no other words have the same.
Digest digest_of(const std::vector<std::string>& words) {
  Sha256 hash;
  for (const auto& word : words) hash.add(word).add(std::string_view("\0", 1));
  return hash.finish();
}

Digest program_digest(const Attendance& attendance) {
  auto words = attendance.program;
  words.emplace_back(attendance.module ? "module" : "program");
  return digest_of(words);
}

/// Settings by which ranks compute must be the same everywhere; where they run need not.
Digest settings_digest(const Resolution& resolution) {
  std::vector<std::string> words;
  for (const auto& entry : resolution.entries()) {
    const auto& section = entry.setting->section;
    if (section != "launch" && section != "log")
      words.push_back(entry.setting->id() + "=" + to_text(entry.value));
  }
  return digest_of(words);
}

Join join_of(const Resolution& resolution, const Attendance& attendance) {
  const auto& launch = resolution.settings().launch;
  const bool each_decides = launch.nproc_per_node || launch.num_processes.is_auto();
  Join join;
  join.version = version;
  join.host = attendance.host;
  join.nodes = launch.nnodes;
  join.node_rank = launch.node_rank.value.value_or(-1);
  join.total = each_decides ? 0 : *launch.num_processes.value;
  join.ranks = each_decides ? attendance.ranks : 0;
  join.run_id = launch.run_id;
  join.program = program_digest(attendance);
  join.settings = settings_digest(resolution);
  join.fault_code = attendance.fault_code;
  join.fault = attendance.fault;
  return join;
}

Meeting gather(const Endpoint& address, Join own, const MeetingOptions& options) {
  auto port = reserve_port(address.address(), address.port());
  keep_off_standard(port.socket);
  keep_off_standard(port.name);
  if (own.node_rank < 0) own.node_rank = 0;
  if (!options.token) {
    options.tell("whoever reaches " + address.text() +
                 " can join this job; with --token-file or MUSTER_TOKEN only who has the token");
  }
  return Gathering(std::move(port), std::move(own), options).run();
}

std::string taken_text(const Endpoint& address) {
  return fmt::format("port {} on {} is taken; give all hosts another one: --master-port",
                     address.port(), address.address());
}

/// Node 0's port is taken: maybe by another launcher, which says so.
[[noreturn]] void refuse_second_node_0(const Endpoint& address, const MeetingOptions& options) {
  constexpr std::chrono::milliseconds patience{300};
  const auto answer = OpenInquiry(address, 0, options.token).wait(patience);
  throw ConfigError(answer ? refusal_of(*answer, options.place, options.token)
                           : taken_text(address));
}

}  // namespace

void check_hosts(const Resolution& resolution) {
  const auto& launch = resolution.settings().launch;
  const SettingNames names(resolution);
  const std::string nnodes = names.of("launch.nnodes"), node_rank = names.of("launch.node_rank");
  const int nodes = launch.nnodes;
  if (launch.node_rank.value && *launch.node_rank.value >= nodes) {
    throw ConfigError(fmt::format("{} {} of {} host{}: expected 0{}", node_rank,
                                  *launch.node_rank.value, nodes, nodes == 1 ? "" : "s",
                                  nodes == 1 ? "; " + nnodes + " says how many hosts there are"
                                             : fmt::format(" to {}", nodes - 1)));
  }
  if (nodes == 1) {
    if (launch.bind_addr.empty()) return;
    throw ConfigError(fmt::format("{} {} is for several hosts ({}); one host listens on {}",
                                  names.of("launch.bind_addr"), launch.bind_addr, nnodes,
                                  names.of("launch.master_addr")));
  }
  if (launch.master_addr.empty()) {
    throw ConfigError(
        fmt::format("{} {} needs --master-addr: an address of node 0 that the other hosts reach",
                    nnodes, nodes));
  }
  if (launch.master_port == 0 &&
      resolution.entry("launch.master_port").origin.kind != Origin::Kind::built_in) {
    throw ConfigError(
        fmt::format("{} 0 with {} {}: the hosts meet at this port, so all must know it; if it is "
                    "not set it is {}",
                    names.of("launch.master_port"), nnodes, nodes, default_meeting_port));
  }
  if (!launch.bind_addr.empty() && launch.node_rank.value.value_or(0) != 0) {
    throw ConfigError(fmt::format("{} is where node 0 listens, and this is {} {}",
                                  names.of("launch.bind_addr"), node_rank,
                                  *launch.node_rank.value));
  }
  if (launch.max_restarts > 0) {
    throw ConfigError(fmt::format("{} {} with {} {}: the ranks of several hosts are not restarted",
                                  names.of("launch.max_restarts"), launch.max_restarts, nnodes,
                                  nodes));
  }
  const auto& total = launch.num_processes.value;
  if (!launch.nproc_per_node && total && *total < nodes) {
    throw ConfigError(fmt::format("{} {} with {} {}: each host needs at least one rank",
                                  names.of("launch.num_processes"), *total, nnodes, nodes));
  }
}

std::uint16_t meeting_port(const Resolution& resolution) {
  const int port = resolution.settings().launch.master_port;
  return port == 0 ? default_meeting_port : static_cast<std::uint16_t>(port);
}

Meeting meet(const Resolution& resolution, const Attendance& attendance, const MeetingPlace& place,
             MeetingOptions options) {
  options.place = place.text;
  options.names = SettingNames(resolution);
  auto own = join_of(resolution, attendance);
  if (!options.token.note.empty()) options.tell(options.token.note);
  if (!place.listens) return Joining(place.addresses, own, options).run();
  const auto& address = place.addresses.front();
  try {
    return gather(address, own, options);
  } catch (const PortTaken&) {
    if (!place.by_arrival) refuse_second_node_0(address, options);
  }
  return Joining(place.addresses, own, options, taken_text(address)).run();
}

}  // namespace muster::launcher
