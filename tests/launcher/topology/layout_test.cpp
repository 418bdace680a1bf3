#include "topology/layout.hpp"

#include "launcher/recorded_machine.hpp"

#include <catch2/catch_test_macros.hpp>

using muster::launcher::discover_layout;
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
  CHECK(layout.numa_nodes == 2);
  CHECK(layout.cores == 4);
  CHECK(layout.threads == 8);
  CHECK(layout.cache_bytes == 64U << 20U);
  CHECK(layout.source == "sysfs");
}

TEST_CASE("This host has a layout, with or without hwloc") {
  const auto layout = discover_layout(muster::launcher::Sysroot());
  CHECK(layout.packages >= 1);
  CHECK(layout.cores >= 1);
  CHECK(layout.threads >= layout.cores);
  CHECK((layout.source.starts_with("hwloc ") || layout.source.starts_with("sysfs (")));
}
