#include "topology/memory.hpp"

#include "launcher/recorded_machine.hpp"

#include <catch2/catch_test_macros.hpp>

using muster::launcher::Cgroups;
using muster::launcher::discover_memory;
using muster::test::RecordedMachine;

TEST_CASE("Memory is what the host has, or what a group allows of it") {
  const RecordedMachine machine;
  machine.file("/proc/meminfo", "MemTotal:        1048576 kB\nMemFree:  1 kB\n");
  machine.cgroup_v2("/job");
  const auto root = machine.root();
  SECTION("no limit") {
    const auto memory = discover_memory(root, Cgroups(root));
    CHECK(memory.total == 1073741824U);
    CHECK(memory.usable() == memory.total);
    CHECK_FALSE(memory.shared);
  }
  SECTION("a limit") {
    machine.file("/sys/fs/cgroup/job/memory.max", "536870912\n");
    const auto memory = discover_memory(root, Cgroups(root));
    CHECK(memory.usable() == 536870912U);
    CHECK(memory.limit_group == "/job");
  }
  SECTION("a limit above what there is") {
    machine.file("/sys/fs/cgroup/job/memory.max", "999999999999\n");
    CHECK_FALSE(discover_memory(root, Cgroups(root)).limit);
  }
}

TEST_CASE("Open files: the number in force, 0 for no limit") {
  const RecordedMachine machine;
  const auto root = machine.root();
  machine.file("/proc/self/limits",
               "Limit                     Soft Limit           Hard Limit           Units\n"
               "Max open files            1024                 524288               files\n");
  CHECK(discover_memory(root, Cgroups(root)).open_files == 1024);
  machine.file("/proc/self/limits", "Max open files   unlimited   unlimited   files\n");
  CHECK(discover_memory(root, Cgroups(root)).open_files == 0);
}
