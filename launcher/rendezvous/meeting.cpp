#include "meeting.hpp"

#include "report/signal_name.hpp"
#include "screen/screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace muster::launcher {
namespace {

std::string asked_ranks(const Join& join) {
  if (join.total > 0) return fmt::format("{} in all (-n)", join.total);
  return "one for each host (--nproc-per-node)";
}

}  // namespace

int Meeting::first_rank() const {
  return std::accumulate(nodes.begin(), nodes.begin() + node_rank, 0,
                         [](int sum, const Node& node) { return sum + node.ranks; });
}

int Meeting::world_size() const {
  return std::accumulate(nodes.begin(), nodes.end(), 0,
                         [](int sum, const Node& node) { return sum + node.ranks; });
}

std::string Meeting::name_of(std::int32_t node) const {
  const Node& one = nodes.at(static_cast<std::size_t>(node));
  return fmt::format("node {} ({}, {})", node, one.host, one.address);
}

std::string Meeting::full_text(std::int32_t wanted, std::chrono::nanoseconds age) const {
  const auto there =
      fmt::format("all {} hosts of the job have joined already, {} ago", nodes.size(),
                  duration_text(std::chrono::duration<double>(age).count()));
  if (wanted >= 0 && static_cast<std::size_t>(wanted) < nodes.size())
    return fmt::format("--node-rank {} is taken by {}; {}", wanted, name_of(wanted), there);
  constexpr std::size_t most_named = 8;
  std::vector<std::string> names;
  for (std::size_t node = 0; node < std::min(nodes.size(), most_named); ++node)
    names.push_back(name_of(static_cast<std::int32_t>(node)));
  if (nodes.size() > most_named) names.push_back(fmt::format("{} more", nodes.size() - most_named));
  return fmt::format("{}: {}", there, fmt::join(names, ", "));
}

Interrupted::Interrupted(int signal, bool from_terminal)
    : Error("ended by " + (from_terminal ? "Ctrl-C" : signal_name(signal)) +
                " before all hosts had joined",
            static_cast<ExitCode>(128 + signal)),
      signal_(signal),
      from_terminal_(from_terminal) {}

int share_of(int total, int nodes, int node) { return total / nodes + (node < total % nodes); }

std::string difference(const Join& one, const std::string& ones_name, const Join& other,
                       const std::string& others_name) {
  const auto differ = [&](std::string_view what, const auto& ones, const auto& others) {
    return fmt::format("the hosts do not agree on {}: {} has {}, {} has {}", what, ones_name, ones,
                       others_name, others);
  };
  if (one.version != other.version) return differ("muster's version", one.version, other.version);
  if (one.nodes != other.nodes) return differ("--nnodes", one.nodes, other.nodes);
  if (!one.run_id.empty() && !other.run_id.empty() && one.run_id != other.run_id)
    return differ("--run-id", one.run_id, other.run_id);
  if (one.total != other.total)
    return differ("the number of ranks", asked_ranks(one), asked_ranks(other));
  if (one.program != other.program) {
    return fmt::format(
        "the hosts do not agree on what to start: the program or its arguments are others on {} "
        "than on {}",
        ones_name, others_name);
  }
  if (one.settings != other.settings) {
    return fmt::format(
        "the hosts do not agree on settings of the ranks: [train] and the like are others on {} "
        "than on {}; muster config show prints them",
        ones_name, others_name);
  }
  return "";
}

}  // namespace muster::launcher
