#include "topology/cpus.hpp"

#include "launcher/recorded_machine.hpp"

#include <catch2/catch_test_macros.hpp>

using muster::launcher::Cgroups;
using muster::launcher::Cpus;
using muster::launcher::discover_cpus;
using muster::test::RecordedMachine;

namespace {

Cpus cpus_of(const RecordedMachine& machine) {
  const auto root = machine.root();
  return discover_cpus(root, Cgroups(root));
}

}  // namespace

TEST_CASE("Affinity, cpuset and quota: the smallest counts") {
  const RecordedMachine machine;
  machine.cpus(96);
  SECTION("nothing limits") { CHECK(cpus_of(machine).usable() == 96); }
  SECTION("affinity") {
    machine.affinity("0-3,48-51");
    CHECK(cpus_of(machine).usable() == 8);
  }
  SECTION("a cpuset that the affinity leaves only in part") {
    machine.affinity("0-3,48-51");
    machine.cgroup_v2("/job");
    machine.file("/sys/fs/cgroup/job/cpuset.cpus.effective", "2-49\n");
    CHECK(cpus_of(machine).allowed == std::vector<int>{2, 3, 48, 49});
  }
  SECTION("a quota, rounded up") {
    machine.cgroup_v2("/job");
    machine.file("/sys/fs/cgroup/job/cpu.max", "350000 100000\n");
    CHECK(cpus_of(machine).usable() == 4);
    CHECK(cpus_of(machine).quota == 3.5);
  }
  SECTION("a quota below one CPU is still one") {
    machine.cgroup_v2("/job");
    machine.file("/sys/fs/cgroup/job/cpu.max", "20000 100000\n");
    CHECK(cpus_of(machine).usable() == 1);
  }
}

TEST_CASE("What keeps CPUs out is named") {
  const RecordedMachine machine;
  machine.cpus(8);
  SECTION("nothing") { CHECK(cpus_of(machine).allowed_by.empty()); }
  SECTION("the affinity") {
    machine.affinity("0-3");
    CHECK(cpus_of(machine).allowed_by == "affinity");
  }
  SECTION("the affinity, within a cpuset") {
    machine.affinity("0-3");
    machine.cgroup_v2("/box");
    machine.file("/sys/fs/cgroup/box/cpuset.cpus.effective", "0-5\n");
    CHECK(cpus_of(machine).allowed_by == "affinity");
  }
  SECTION("a cpuset, which the kernel has put into the affinity") {
    machine.affinity("0-3");
    machine.cgroup_v2("/box/inner");
    machine.file("/sys/fs/cgroup/box/inner/cpuset.cpus.effective", "\n");
    machine.file("/sys/fs/cgroup/box/cpuset.cpus.effective", "0-3\n");
    CHECK(cpus_of(machine).allowed_by == "cpuset /box");
  }
}

TEST_CASE("CPUs that are allowed one day but not plugged in do not count") {
  const RecordedMachine machine;
  machine.cpus(4);
  machine.affinity("0-127");
  CHECK(cpus_of(machine).allowed == std::vector<int>{0, 1, 2, 3});
}

TEST_CASE("Siblings of a core count once") {
  const RecordedMachine machine;
  machine.cpus(8, 2);  // CPU 0 and 4 are one core, 1 and 5 another.
  SECTION("all") { CHECK(cpus_of(machine).cores == 4); }
  SECTION("two of one core") {
    machine.affinity("0,4");
    CHECK(cpus_of(machine).cores == 1);
  }
  SECTION("one of each") {
    machine.affinity("0-3");
    CHECK(cpus_of(machine).cores == 4);
  }
  SECTION("SMT is off") {
    machine.file("/sys/devices/system/cpu/smt/active", "0\n");
    CHECK(cpus_of(machine).cores == 8);
  }
}

TEST_CASE("Threads of a rank: its part of the cores or of the quota, at least one") {
  Cpus cpus;
  cpus.cores = 12;
  CHECK(cpus.threads_for(1) == 12);
  CHECK(cpus.threads_for(5) == 2);
  CHECK(cpus.threads_for(13) == 1);
  cpus.quota = 7.5;
  CHECK(cpus.threads_for(1) == 7);
  CHECK(cpus.threads_for(3) == 2);
  CHECK(cpus.threads_for(100) == 1);
  cpus.quota = 0.4;
  CHECK(cpus.threads_for(1) == 1);
}

TEST_CASE("The CPUs of this host are those that the kernel lets us use") {
  const muster::launcher::Sysroot root;
  const auto cpus = discover_cpus(root, Cgroups(root));
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) SKIP("more CPUs than a cpu_set_t holds");
  // The cpuset is part of the affinity, as long as nobody changes one of them meanwhile.
  CHECK(static_cast<int>(cpus.allowed.size()) == CPU_COUNT(&set));
  CHECK(cpus.cores >= 1);
  CHECK(cpus.cores <= CPU_COUNT(&set));
  CHECK(cpus.usable() <= CPU_COUNT(&set));
}
