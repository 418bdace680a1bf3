#include "planning/placement.hpp"

#include "topology/cpu_list.hpp"

#include <catch2/catch_test_macros.hpp>

namespace muster::launcher {
namespace {

/// Nodes of `cores` cores of two hyperthreads each, numbered as Linux numbers them: all first
/// hyperthreads come before all second ones.
Topology host(int nodes, int cores) {
  Topology topology;
  auto& layout = topology.layout.emplace();
  const int all = nodes * cores;
  for (int id = 0; id < nodes; ++id) {
    Layout::NumaNode node{id, {}, 1ULL << 30U};
    for (int core = id * cores; core < (id + 1) * cores; ++core) {
      layout.cores.push_back({{core, core + all}, id, id});
      node.cpus.push_back(core);
    }
    for (int core = id * cores; core < (id + 1) * cores; ++core) node.cpus.push_back(core + all);
    layout.nodes.push_back(node);
    topology.nodes.push_back(id);
    topology.memory_nodes.push_back(id);
  }
  topology.cpus.cores = all;
  for (int cpu = 0; cpu < 2 * all; ++cpu) topology.cpus.allowed.push_back(cpu);
  return topology;
}

/// Only these CPUs are allowed.
Topology limited(Topology topology, const std::string& cpus) {
  topology.cpus.allowed = parse_cpu_list(cpus).value();
  topology.cpus.cores = 0;
  std::erase_if(topology.nodes, [&](int id) {
    const auto& node = topology.layout->nodes[static_cast<std::size_t>(id)];
    return intersect(node.cpus, topology.cpus.allowed).empty();
  });
  for (const auto& core : topology.layout->cores) {
    if (!intersect(core.cpus, topology.cpus.allowed).empty()) ++topology.cpus.cores;
  }
  return topology;
}

DeviceChoice devices_on(const std::vector<int>& nodes) {
  DeviceChoice choice;
  for (const int node : nodes) {
    choice.devices.push_back({"GPU-" + std::to_string(choice.devices.size()), "", "", node});
  }
  return choice;
}

/// "0-1,4-5@0 2-3,6-7@1 free": CPUs and memory node of each rank.
std::string map_of(const std::string& bind, const Topology& topology, int ranks,
                   const DeviceChoice& devices = {}) {
  LaunchSettings settings;
  settings.bind = bind;
  const auto placement = place_ranks(settings, topology, devices, ranks);
  std::string text;
  for (const auto& rank : placement.ranks) {
    text += (text.empty() ? "" : " ") + (rank.cpus.empty() ? "free" : format_cpu_list(rank.cpus)) +
            (rank.memory_node < 0 ? "" : "@" + std::to_string(rank.memory_node));
  }
  return text.empty() ? "nobody is bound" : text;
}

int threads(const std::string& bind, const Topology& topology, int ranks) {
  LaunchSettings settings;
  settings.bind = bind;
  return threads_of(topology.cpus, place_ranks(settings, topology, {}, ranks), ranks);
}

}  // namespace

TEST_CASE("auto binds several ranks on several NUMA nodes, and nothing else") {
  CHECK(map_of("auto", host(1, 4), 4) == "nobody is bound");
  CHECK(map_of("auto", host(2, 2), 1) == "nobody is bound");
  CHECK(map_of("auto", host(2, 2), 2) == "0-1,4-5@0 2-3,6-7@1");
  CHECK(map_of("auto", host(2, 2), 4) == "0-1,4-5@0 0-1,4-5@0 2-3,6-7@1 2-3,6-7@1");
  CHECK(map_of("none", host(2, 2), 2) == "nobody is bound");
}

TEST_CASE("Only a choice makes the layout worth reading") {
  LaunchSettings settings;
  auto one = host(1, 2), two = host(2, 2), untold = host(1, 2);
  untold.nodes.clear();
  CHECK_FALSE(needs_layout(settings, one, 8));
  CHECK_FALSE(needs_layout(settings, two, 1));
  CHECK(needs_layout(settings, two, 2));
  settings.bind = "none";
  CHECK_FALSE(needs_layout(settings, two, 2));
  settings.bind = "core";
  CHECK(needs_layout(settings, one, 1));
  settings.bind = "node";
  CHECK(needs_layout(settings, one, 1));
  CHECK_FALSE(needs_layout(settings, untold, 1));
}

TEST_CASE("core: the ranks of a node divide its cores, and hyperthreads stay together") {
  CHECK(map_of("core", host(1, 4), 2) == "0-1,4-5 2-3,6-7");
  CHECK(map_of("core", host(1, 4), 3) == "0,4 1,5 2-3,6-7");
  CHECK(map_of("core", host(2, 2), 4) == "0,4@0 1,5@0 2,6@1 3,7@1");
  CHECK(map_of("core", host(1, 4), 1) == "0-7");
}

TEST_CASE("core: more ranks than cores take turns") {
  CHECK(map_of("core", host(1, 2), 5) == "0,2 1,3 0,2 1,3 0,2");
}

TEST_CASE("Ranks without a device are spread by the cores that are allowed") {
  const auto uneven = limited(host(2, 4), "0-2,8-10,4,12");  // Three cores, and one.
  CHECK(map_of("node", uneven, 4) == "0-2,8-10@0 0-2,8-10@0 0-2,8-10@0 4,12@1");
  CHECK(map_of("core", uneven, 4) == "0,8@0 1,9@0 2,10@0 4,12@1");
  CHECK(map_of("node", host(4, 1), 2) == "0-1,4-5 2-3,6-7");  // Two nodes each.
  CHECK(map_of("node", host(2, 2), 3) == "0-1,4-5@0 2-3,6-7@1 2-3,6-7@1");
}

TEST_CASE("Half a core that is allowed is all that is used of it") {
  CHECK(map_of("core", limited(host(1, 2), "0-1"), 2) == "0 1");
  CHECK(map_of("core", limited(host(1, 2), "1,3"), 2) == "1,3 1,3");
}

TEST_CASE("A rank is beside its device") {
  CHECK(map_of("auto", host(2, 2), 2, devices_on({1, 0})) == "2-3,6-7@1 0-1,4-5@0");
  CHECK(map_of("core", host(2, 2), 4, devices_on({1, 1, 0, 0})) == "2,6@1 3,7@1 0,4@0 1,5@0");
  CHECK(map_of("auto", host(2, 2), 4, devices_on({0, 1})) ==
        "0-1,4-5@0 2-3,6-7@1 0-1,4-5@0 2-3,6-7@1");  // Shared devices.
}

TEST_CASE("A device whose node is not told, or not allowed, leaves its rank free under auto") {
  CHECK(map_of("auto", host(2, 2), 2, devices_on({-1, 1})) == "free 2-3,6-7@1");
  CHECK(map_of("node", host(2, 2), 2, devices_on({-1, 1})) == "0-1,4-5@0 2-3,6-7@1");
  const auto second = limited(host(2, 2), "2-3,6-7");
  CHECK(map_of("auto", second, 2, devices_on({0, 1})) == "nobody is bound");  // One node is left.
  CHECK(map_of("core", second, 2, devices_on({0, 1})) == "2,6@1 3,7@1");
}

TEST_CASE("Memory is wished for only where there is a choice, and nobody has chosen") {
  auto chosen = host(2, 2);
  chosen.memory_policy = true;
  CHECK(map_of("node", chosen, 2) == "0-1,4-5 2-3,6-7");
  auto forbidden = host(2, 2);
  forbidden.memory_nodes = {0};
  CHECK(map_of("node", forbidden, 2) == "0-1,4-5@0 2-3,6-7");
  auto empty = host(2, 2);
  empty.layout->nodes[1].memory_bytes = 0;
  CHECK(map_of("node", empty, 2) == "0-1,4-5@0 2-3,6-7");
}

TEST_CASE("--bind node on a host that tells no NUMA nodes is told, and binds nobody") {
  auto topology = host(1, 2);
  topology.nodes.clear();
  LaunchSettings settings;
  settings.bind = "node";
  const auto placement = place_ranks(settings, topology, {}, 2);
  CHECK(placement.ranks.empty());
  CHECK(placement.note ==
        "--bind node: this host tells no NUMA nodes; ranks may use all CPUs (0-3)");
}

TEST_CASE("Threads are the same for all, and no more than the fewest cores of a rank") {
  CHECK(threads("none", host(1, 4), 3) == 1);
  CHECK(threads("core", host(1, 8), 3) == 2);
  const auto uneven = limited(host(2, 4), "0-2,8-10,4,12");
  CHECK(threads("none", uneven, 1) == 4);
  CHECK(threads("node", uneven, 2) == 1);  // Both on the first node, which has three cores.
  CHECK(threads("core", host(1, 2), 5) == 1);
}

}  // namespace muster::launcher
