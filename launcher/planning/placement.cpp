#include "planning/placement.hpp"

#include "topology/cpu_list.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

namespace muster::launcher {
namespace {

using Nodes = std::vector<std::size_t>;  ///< Places in a list of nodes, ascending.

/// The part of a NUMA node that is allowed.
struct UsableNode {
  int id = 0;
  std::vector<std::vector<int>> cores;  ///< The allowed CPUs of each.
};

std::vector<UsableNode> usable_nodes(const Topology& topology) {
  std::vector<UsableNode> nodes;
  for (const auto& core : topology.layout->cores) {
    auto cpus = intersect(core.cpus, topology.cpus.allowed);
    if (cpus.empty()) continue;
    if (nodes.empty() || nodes.back().id != core.node) nodes.push_back({core.node, {}});
    nodes.back().cores.push_back(std::move(cpus));
  }
  return nodes;
}

/// Spreads ranks over nodes: each gets as many as its share of the cores, neighbours stay together.
/// With fewer ranks than nodes each gets several.
std::vector<Nodes> spread(std::size_t ranks, const std::vector<UsableNode>& nodes) {
  // In halves, so that the middle of a rank's or of a node's part is a whole number.
  std::vector<std::size_t> begin{0};
  for (const auto& node : nodes) begin.push_back(begin.back() + 2 * ranks * node.cores.size());
  const auto total = begin.back();
  const auto node_of_rank = [&](std::size_t rank) {
    const auto middle = total / (2 * ranks) * (2 * rank + 1);
    return static_cast<std::size_t>(std::upper_bound(begin.begin(), begin.end(), middle) -
                                    begin.begin()) -
           1;
  };
  std::vector<Nodes> of_rank(ranks);
  if (ranks < nodes.size()) {
    for (std::size_t at = 0; at < nodes.size(); ++at) {
      of_rank[(begin[at] + begin[at + 1]) / 2 * ranks / total].push_back(at);
    }
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (of_rank[rank].empty()) of_rank[rank] = {node_of_rank(rank)};
  }
  return of_rank;
}

/// For a rank whose device tells no node: where most cores are left for each.
std::size_t roomiest(const std::vector<UsableNode>& nodes, const std::vector<std::size_t>& load) {
  std::size_t best = 0;
  for (std::size_t at = 1; at < nodes.size(); ++at) {
    if (nodes[at].cores.size() * (load[best] + 1) > nodes[best].cores.size() * (load[at] + 1)) {
      best = at;
    }
  }
  return best;
}

/// The nodes of their devices; no nodes at all for a rank that shall stay free.
std::vector<Nodes> beside_devices(std::size_t ranks, const std::vector<UsableNode>& nodes,
                                  const DeviceChoice& devices, bool guess) {
  std::vector<Nodes> of_rank(ranks);
  std::vector<std::size_t> load(nodes.size());
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const int id = devices.devices[rank % devices.devices.size()].node;
    const auto found = std::ranges::find(nodes, id, &UsableNode::id);
    if (found == nodes.end()) continue;
    of_rank[rank] = {static_cast<std::size_t>(found - nodes.begin())};
    ++load[of_rank[rank].front()];
  }
  for (auto& mine : of_rank) {
    if (!guess || !mine.empty()) continue;
    mine = {roomiest(nodes, load)};
    ++load[mine.front()];
  }
  return of_rank;
}

std::vector<int> joined_cpus(const std::vector<std::vector<int>>& cores, std::size_t begin,
                             std::size_t end) {
  std::vector<int> cpus;
  for (auto at = begin; at < end; ++at) cpus.insert(cpus.end(), cores[at].begin(), cores[at].end());
  std::ranges::sort(cpus);
  return cpus;
}

/// Ranks of the same nodes, in rank order.
std::map<Nodes, std::vector<std::size_t>> groups_of(const std::vector<Nodes>& of_rank) {
  std::map<Nodes, std::vector<std::size_t>> groups;
  for (std::size_t rank = 0; rank < of_rank.size(); ++rank) {
    if (!of_rank[rank].empty()) groups[of_rank[rank]].push_back(rank);
  }
  return groups;
}

/// Gives the ranks of one group their CPUs; the cores that the one with the fewest has to itself.
std::size_t place_group(const std::vector<std::size_t>& members,
                        const std::vector<std::vector<int>>& cores, bool each_its_own,
                        Placement& placement) {
  const auto whole = joined_cpus(cores, 0, cores.size());
  for (std::size_t at = 0; at < members.size(); ++at) {
    auto& cpus = placement.ranks[members[at]].cpus;
    if (!each_its_own) {
      cpus = whole;
    } else if (members.size() > cores.size()) {
      cpus = cores[at % cores.size()];
    } else {
      cpus = joined_cpus(cores, cores.size() * at / members.size(),
                         cores.size() * (at + 1) / members.size());
    }
  }
  return std::max<std::size_t>(1, cores.size() / members.size());
}

bool has_memory(const Topology& topology, int id) {
  const auto& nodes = topology.layout->nodes;
  const auto node = std::ranges::find(nodes, id, &Layout::NumaNode::id);
  const auto& allowed = topology.memory_nodes;
  return nodes.size() > 1 && node != nodes.end() && node->memory_bytes > 0 &&
         std::ranges::find(allowed, id) != allowed.end();
}

Placement placed(const std::vector<Nodes>& of_rank, const std::vector<UsableNode>& nodes,
                 bool each_its_own, const Topology& topology) {
  Placement placement;
  placement.ranks.resize(of_rank.size());
  auto fewest = static_cast<std::size_t>(topology.cpus.cores);
  for (const auto& [mine, members] : groups_of(of_rank)) {
    std::vector<std::vector<int>> cores;
    for (const auto at : mine) {
      cores.insert(cores.end(), nodes[at].cores.begin(), nodes[at].cores.end());
    }
    fewest = std::min(fewest, place_group(members, cores, each_its_own, placement));
    const int id = nodes[mine.front()].id;
    // Another's choice of memory (numactl) stays.
    if (mine.size() > 1 || topology.memory_policy || !has_memory(topology, id)) continue;
    for (const auto rank : members) placement.ranks[rank].memory_node = id;
  }
  placement.cores = static_cast<int>(fewest);
  return placement;
}

}  // namespace

bool needs_layout(const LaunchSettings& settings, const Topology& topology, int ranks) {
  if (settings.bind == "auto") return ranks > 1 && topology.nodes.size() > 1;
  return settings.bind == "core" || (settings.bind == "node" && !topology.nodes.empty());
}

int threads_of(const Cpus& cpus, const Placement& placement, int ranks) {
  const int fair = cpus.threads_for(ranks);
  return placement.cores > 0 ? std::min(fair, placement.cores) : fair;
}

Placement place_ranks(const LaunchSettings& settings, const Topology& topology,
                      const DeviceChoice& devices, int ranks) {
  Placement free;
  if (settings.bind == "node" && topology.nodes.empty()) {
    free.note = "--bind node: this host tells no NUMA nodes; ranks may use all CPUs (" +
                format_cpu_list(topology.cpus.allowed) + ")";
    return free;
  }
  if (!needs_layout(settings, topology, ranks) || !topology.layout) return free;
  const auto nodes = usable_nodes(topology);
  if (nodes.empty()) return free;
  const auto count = static_cast<std::size_t>(ranks);
  const auto of_rank = devices.devices.empty()
                           ? spread(count, nodes)
                           : beside_devices(count, nodes, devices, settings.bind != "auto");
  return placed(of_rank, nodes, settings.bind == "core", topology);
}

}  // namespace muster::launcher
