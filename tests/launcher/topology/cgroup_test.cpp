#include "topology/cgroup.hpp"

#include "launcher/recorded_machine.hpp"

#include <catch2/catch_test_macros.hpp>

using muster::launcher::Cgroups;
using muster::test::RecordedMachine;

TEST_CASE("Version 2: the quota is the smallest on the way to the root") {
  const RecordedMachine machine;
  machine.cgroup_v2("/kubepods/pod1/box");
  machine.file("/sys/fs/cgroup/kubepods/cpu.max", "1600000 100000\n");
  machine.file("/sys/fs/cgroup/kubepods/pod1/cpu.max", "250000 100000\n");
  machine.file("/sys/fs/cgroup/kubepods/pod1/box/cpu.max", "max 100000\n");
  const auto root = machine.root();
  const auto quota = Cgroups(root).cpu_quota();
  REQUIRE(quota);
  CHECK(quota->value == 2.5);
  CHECK(quota->group == "/kubepods/pod1");
  CHECK(Cgroups(root).version() == "v2");
}

TEST_CASE("Version 2: a group without a cpuset of its own has its parent's") {
  const RecordedMachine machine;
  machine.cgroup_v2("/a/b");
  machine.file("/sys/fs/cgroup/a/cpuset.cpus.effective", "0-3,48-51\n");
  machine.file("/sys/fs/cgroup/cpuset.cpus.effective", "0-95\n");
  const auto root = machine.root();
  CHECK(Cgroups(root).cpuset().value().value == std::vector<int>{0, 1, 2, 3, 48, 49, 50, 51});
}

TEST_CASE("Version 1: quota, cpuset and memory each have a mount of their own") {
  const RecordedMachine machine;
  machine.file(
      "/proc/self/cgroup",
      "4:memory:/docker/abc\n3:cpuset:/docker/abc\n2:cpu,cpuacct:/docker/abc\n1:name=systemd:/x\n");
  // A container without a namespace: the mounts show its own part of each tree.
  machine.file(
      "/proc/self/mountinfo",
      "40 1 0:30 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
      "41 1 0:31 /docker/abc /sys/fs/cgroup/cpuset ro master:3 - cgroup cgroup rw,cpuset\n"
      "42 1 0:32 /docker/abc /my\\040groups/memory ro - cgroup cgroup rw,memory\n");
  machine.file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "150000\n");
  machine.file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  machine.file("/sys/fs/cgroup/cpuset/cpuset.cpus", "2-3\n");
  machine.file("/my groups/memory/memory.limit_in_bytes", "1073741824\n");
  const auto root = machine.root();
  const Cgroups cgroups(root);
  REQUIRE(cgroups.cpu_quota());
  CHECK(cgroups.cpu_quota()->value == 1.5);
  CHECK(cgroups.cpuset().value().value == std::vector<int>{2, 3});
  REQUIRE(cgroups.memory_limit());
  CHECK(cgroups.memory_limit()->value == 1073741824U);
  CHECK(cgroups.version() == "v1");
}

TEST_CASE("Version 1: -1 and the largest number are no limits") {
  const RecordedMachine machine;
  machine.file("/proc/self/cgroup", "2:cpu:/\n1:memory:/\n");
  machine.file("/proc/self/mountinfo",
               "40 1 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
               "41 1 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  machine.file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  machine.file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  machine.file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  const auto root = machine.root();
  CHECK_FALSE(Cgroups(root).cpu_quota());
  CHECK_FALSE(Cgroups(root).memory_limit());
}

TEST_CASE("Hybrid: version 1 has the controllers, version 2 is mounted beside them") {
  const RecordedMachine machine;
  machine.file("/proc/self/cgroup", "2:memory:/job\n1:cpu:/job\n0::/init\n");
  machine.file("/proc/self/mountinfo",
               "40 1 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
               "41 1 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
               "42 1 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  machine.file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "800000\n");
  machine.file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  machine.file("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "400000\n");
  machine.file("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  machine.file("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2048\n");
  const auto root = machine.root();
  const Cgroups cgroups(root);
  REQUIRE(cgroups.cpu_quota());
  CHECK(cgroups.cpu_quota()->value == 4);
  CHECK(cgroups.cpu_quota()->group == "/job");
  CHECK(cgroups.memory_limit()->value == 2048U);
  CHECK(cgroups.version() == "v1 and v2");
}

TEST_CASE("A namespace that starts at our group shows it as the mount itself") {
  const RecordedMachine machine;
  machine.cgroup_v2("/../../other");
  machine.file("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  machine.file("/sys/fs/cgroup/memory.max", "4096\n");
  const auto root = machine.root();
  REQUIRE(Cgroups(root).cpu_quota());
  CHECK(Cgroups(root).cpu_quota()->value == 2);
  CHECK(Cgroups(root).memory_limit()->value == 4096U);
}

TEST_CASE("No control groups are no limits, and damaged files are none either") {
  const RecordedMachine machine;
  SECTION("nothing is mounted") {}
  SECTION("garbage") {
    machine.cgroup_v2("/");
    machine.file("/sys/fs/cgroup/cpu.max", "lots\n");
    machine.file("/sys/fs/cgroup/cpuset.cpus.effective", "all of them\n");
    machine.file("/sys/fs/cgroup/memory.max", "\n");
  }
  SECTION("a period of zero") {
    machine.cgroup_v2("/");
    machine.file("/sys/fs/cgroup/cpu.max", "100000 0\n");
  }
  const auto root = machine.root();
  CHECK_FALSE(Cgroups(root).cpu_quota());
  CHECK_FALSE(Cgroups(root).cpuset());
  CHECK_FALSE(Cgroups(root).memory_limit());
}
