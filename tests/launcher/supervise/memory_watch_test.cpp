#include "supervise/memory_watch.hpp"

#include "launcher/recorded_machine.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>

namespace muster::launcher {
namespace {

using muster::test::RecordedMachine;

constexpr auto events = "/sys/fs/cgroup/job/memory.events";

std::string events_with(int kills) {
  return "low 0\nhigh 0\nmax 7\noom 3\noom_kill " + std::to_string(kills) + "\noom_group_kill 0\n";
}

TEST_CASE("version 2: a kill is proven by the group's counter, once for each") {
  const RecordedMachine machine;
  machine.cgroup_v2("/job");
  machine.file("/sys/fs/cgroup/memory.max", "max\n");
  machine.file("/sys/fs/cgroup/job/memory.max", "4294967296\n");
  machine.file("/sys/fs/cgroup/job/memory.peak", "4294963200\n");
  machine.file(events, events_with(2));
  MemoryWatch watch(machine.root());
  CHECK_FALSE(watch.kills());
  CHECK_FALSE(watch.claim_kill());
  machine.file(events, events_with(4));
  CHECK(watch.claim_kill());
  CHECK(watch.claim_kill());
  CHECK_FALSE(watch.claim_kill());
  const auto kills = watch.kills();
  REQUIRE(kills);
  CHECK(kills->count == 2);
  CHECK_FALSE(kills->on_host);
  CHECK(kills->limit == 4294967296);
  CHECK(kills->peak == 4294963200);
  CHECK(kills->group == "/job");
}

TEST_CASE("version 1: the counter is another file's") {
  const RecordedMachine machine;
  machine.file("/proc/self/cgroup", "4:memory:/job\n0::/\n");
  machine.file("/proc/self/mountinfo",
               "33 32 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
               "34 32 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  const std::string folder = "/sys/fs/cgroup/memory/job";
  machine.file(folder + "/memory.limit_in_bytes", "104857600\n");
  machine.file(folder + "/memory.max_usage_in_bytes", "104857599\n");
  machine.file(folder + "/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n");
  MemoryWatch watch(machine.root());
  machine.file(folder + "/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
  CHECK(watch.claim_kill());
  REQUIRE(watch.kills());
  CHECK(watch.kills()->limit == 104857600);
  CHECK(watch.kills()->peak == 104857599);
}

TEST_CASE("a group without limits is one whose host has no more memory") {
  const RecordedMachine machine;
  machine.cgroup_v2("/job");
  machine.file(events, events_with(0));
  const MemoryWatch watch(machine.root());
  machine.file(events, events_with(1));
  REQUIRE(watch.kills());
  CHECK_FALSE(watch.kills()->limit);
}

TEST_CASE("where no group counts, the host does; where nobody does, nothing is claimed") {
  const RecordedMachine machine;
  machine.file("/proc/vmstat", "nr_free_pages 5\noom_kill 11\n");
  MemoryWatch watch(machine.root());
  CHECK_FALSE(watch.claim_kill());
  machine.file("/proc/vmstat", "nr_free_pages 5\noom_kill 12\n");
  CHECK(watch.claim_kill());
  CHECK(watch.kills()->on_host);
  MemoryWatch blind{Sysroot("/nowhere")};
  CHECK_FALSE(blind.claim_kill());
}

}  // namespace
}  // namespace muster::launcher
