#include "topology/layout.hpp"

#include "launcher/recorded_machine.hpp"

#include <catch2/catch_test_macros.hpp>

#include <filesystem>

using muster::launcher::discover_layout;
using muster::launcher::shared_bridges;
using muster::test::RecordedMachine;

TEST_CASE("Sysfs tells sockets, cores, NUMA nodes and caches") {
  const RecordedMachine machine;
  machine.cpus(8, 2);
  machine.file("/sys/devices/system/node/online", "0-1\n");
  for (int cpu = 0; cpu < 8; ++cpu) {
    const auto folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
    const bool second = cpu % 4 >= 2;
    machine.file(folder + "/topology/physical_package_id", second ? "1\n" : "0\n");
    machine.file(folder + "/cache/index3/shared_cpu_list", second ? "2-3,6-7\n" : "0-1,4-5\n");
    machine.file(folder + "/cache/index3/size", "32768K\n");
  }
  const auto layout = discover_layout(machine.root());
  CHECK(layout.packages == 2);
  CHECK(layout.nodes.size() == 2);
  CHECK(layout.cores.size() == 4);
  CHECK(layout.threads == 8);
  CHECK(layout.cache_bytes == 64U << 20U);
  CHECK(layout.source == "sysfs");
}

TEST_CASE("Sysfs tells which core and which device is on which node") {
  const RecordedMachine machine;
  machine.cpus(4);
  machine.file("/sys/devices/system/node/online", "0-1\n");
  machine.file("/sys/devices/system/node/node0/cpulist", "0,2\n");
  machine.file("/sys/devices/system/node/node1/cpulist", "1,3\n");
  machine.file("/sys/devices/system/node/node1/meminfo", "Node 1 MemTotal:  1024 kB\n");
  const std::string bridge = "/sys/devices/pci0000:80/0000:80:01.0";
  const auto add = [&](const std::string& address, const std::string& kind) {
    machine.file(bridge + "/" + address + "/class", kind + "\n");
    machine.file(bridge + "/" + address + "/numa_node", "1\n");
    const auto link = machine.root().locate("/sys/bus/pci/devices/" + address);
    std::filesystem::create_directories(std::filesystem::path(link).parent_path());
    std::filesystem::create_symlink("../../.." + bridge.substr(4) + "/" + address, link);
  };
  add("0000:81:00.0", "0x030200");
  add("0000:81:00.1", "0x020700");
  add("0000:81:00.2", "0x040300");  // Sound.
  const auto nic = machine.root().locate("/sys/class/infiniband/mlx5_0/device");
  std::filesystem::create_directories(std::filesystem::path(nic).parent_path());
  std::filesystem::create_symlink("../../../0000:81:00.1", nic);

  const auto layout = discover_layout(machine.root());
  REQUIRE(layout.cores.size() == 4);
  CHECK(layout.cores[0].cpus == std::vector<int>{0});
  CHECK(layout.cores[1].cpus == std::vector<int>{2});
  CHECK(layout.cores[2].node == 1);
  CHECK(layout.nodes[1].memory_bytes == 1U << 20U);
  REQUIRE(layout.pci.size() == 2);
  REQUIRE(layout.find_pci("0000:81:00.0") != nullptr);
  CHECK(layout.find_pci("0000:81:00.0")->node == 1);
  CHECK(layout.find_pci("0000:81:00.0")->above ==
        std::vector<std::string>{"pci0000:80", "0000:80:01.0"});
  REQUIRE(layout.nics.size() == 1);
  CHECK(layout.nics[0].name == "mlx5_0");
  CHECK(layout.nics[0].pci == "0000:81:00.1");
  CHECK(shared_bridges(*layout.find_pci("0000:81:00.0"), *layout.find_pci("0000:81:00.1")) == 2);
}

TEST_CASE("This host has a layout, with or without hwloc") {
  const auto layout = discover_layout(muster::launcher::Sysroot());
  CHECK(layout.packages >= 1);
  CHECK(!layout.cores.empty());
  CHECK(layout.threads >= static_cast<int>(layout.cores.size()));
  CHECK((layout.source.starts_with("hwloc ") || layout.source.starts_with("sysfs (")));
}
