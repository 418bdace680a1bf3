#include "topology/topology.hpp"

#include "launcher/recorded_machine.hpp"
#include "planning/make_plan.hpp"

#include <catch2/catch_test_macros.hpp>

namespace muster::launcher {

using test::RecordedMachine;

namespace {

Plan plan_on(const RecordedMachine& machine, std::vector<GivenFlag> flags,
             const Environment& environment = {}) {
  Sources sources;
  sources.flags = std::move(flags);
  sources.environment = environment;
  sources.no_config = true;
  const Job job{{"./train"}, false, environment, "id", "/tmp/x", "127.0.0.1", 1};
  return make_plan(resolve(sources), discover(machine.root(), NvmlUse::for_instances), job);
}

/// "0:GPU-a 1:GPU-b/4": rank, device, and threads where they are not one.
std::string map_of(const Plan& plan) {
  std::string text;
  for (const auto& spec : plan.ranks) {
    text += (text.empty() ? "" : " ") + std::to_string(spec.world.rank) + ":" + spec.device + "/" +
            std::to_string(spec.threads);
  }
  return text;
}

RecordedMachine& with_two_nodes_and_eight_devices(RecordedMachine& machine) {
  machine.file("/proc/sys/kernel/hostname", "node-a.cluster.example\n");
  machine.cpus(96, 2);
  machine.file("/sys/devices/system/node/online", "0-1\n");
  const char* uuids = "abcdefgh";
  for (int at = 0; at < 8; ++at) {
    machine.gpu(at, "0000:" + std::to_string(10 + at) + ":00.0", std::string("GPU-") + uuids[at]);
  }
  return machine;
}

}  // namespace

TEST_CASE("Eight devices on two NUMA nodes: a rank each, in PCI order") {
  RecordedMachine machine;
  with_two_nodes_and_eight_devices(machine);
  const auto topology = discover(machine.root(), NvmlUse::never);
  CHECK(topology.host == "node-a");
  CHECK(topology.cpus.cores == 48);
  CHECK(map_of(plan_on(machine, {})) ==
        "0:GPU-a/6 1:GPU-b/6 2:GPU-c/6 3:GPU-d/6 4:GPU-e/6 5:GPU-f/6 6:GPU-g/6 7:GPU-h/6");
}

TEST_CASE("Limits of a container on that machine shape the plan") {
  RecordedMachine machine;
  with_two_nodes_and_eight_devices(machine);
  machine.cgroup_v2("/box");
  machine.file("/sys/fs/cgroup/box/cpu.max", "1000000 100000\n");
  machine.file("/sys/fs/cgroup/box/cpuset.cpus.effective",
               "0-3,48-51\n");  // Four cores, eight CPUs.
  CHECK(map_of(plan_on(machine, {{"--devices", "6,7", ""}})) == "0:GPU-g/2 1:GPU-h/2");
  machine.file("/sys/fs/cgroup/box/cpu.max", "300000 100000\n");
  CHECK(map_of(plan_on(machine, {{"-n", "2", ""}, {"--devices", "cpu", ""}})) == "0:cpu/1 1:cpu/1");
}

TEST_CASE("NUMA nodes with CPUs that are allowed, and memory that is") {
  const RecordedMachine machine;
  machine.cpus(4);
  CHECK(discover(machine.root(), NvmlUse::never).nodes.empty());
  machine.file("/sys/devices/system/node/online", "0-2\n");
  machine.file("/sys/devices/system/node/node0/cpulist", "0-1\n");
  machine.file("/sys/devices/system/node/node1/cpulist", "2-3\n");
  machine.file("/sys/devices/system/node/node2/cpulist", "\n");  // Memory alone.
  CHECK(discover(machine.root(), NvmlUse::never).nodes == std::vector<int>{0, 1});
  machine.file("/proc/self/status", "Cpus_allowed_list:\t0-1\nMems_allowed_list:\t0,2\n");
  const auto topology = discover(machine.root(), NvmlUse::never);
  CHECK(topology.nodes == std::vector<int>{0});
  CHECK(topology.memory_nodes == std::vector<int>{0, 2});
}

TEST_CASE("Instances by name on a divided device; a board's own display is no device") {
  const RecordedMachine machine;
  machine.cpus(4);
  machine.gpu(0, "0000:10:00.0", "GPU-a");
  machine.file("/proc/driver/nvidia/capabilities/gpu0/mig/gi1/ci0/access", "");
  machine.file("/sys/bus/pci/devices/0000:03:00.0/vendor", "0x1a03\n");
  machine.file("/sys/bus/pci/devices/0000:03:00.0/class", "0x030000\n");
  const auto plan = plan_on(machine, {}, {{"CUDA_VISIBLE_DEVICES", "MIG-1,MIG-2"}});
  CHECK(map_of(plan) == "0:MIG-1/2 1:MIG-2/2");
  CHECK(plan.ranks[1].set.at("CUDA_VISIBLE_DEVICES") == "MIG-2");
}

TEST_CASE("A machine that tells nothing is one rank on one CPU") {
  const RecordedMachine machine;
  const auto topology = discover(machine.root(), NvmlUse::for_instances);
  CHECK(topology.host == "localhost");
  CHECK(map_of(plan_on(machine, {})) == "0:cpu/1");
}

}  // namespace muster::launcher
