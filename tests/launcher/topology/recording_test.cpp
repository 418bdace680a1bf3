#include "topology/recording.hpp"

#include "launcher/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>

using namespace muster::launcher;
using muster::test::TemporaryFolder;

TEST_CASE("A recording has all that is known of a machine") {
  const auto machine = discover_machine(Sysroot(), {}, NvmlUse::never);
  const TemporaryFolder folder;
  const auto text = recording_of(machine, "");
  folder.write("machine.json", text);
  const auto back = read_recording(folder.path() + "/machine.json");
  CHECK(recording_of(back, "") == text);
  CHECK(back.topology.cpus == machine.topology.cpus);
  CHECK(back.topology.layout->cores == machine.topology.layout->cores);
  CHECK(back.topology.layout->nodes == machine.topology.layout->nodes);
  CHECK(back.memory.total == machine.memory.total);
  CHECK_NOTHROW(check_same_machine("f", back.topology, machine.topology));
}

TEST_CASE("What differs between a recording and this machine is told") {
  Topology here;
  here.host = "node-a";
  here.cpus.allowed = {0, 1};
  here.layout.emplace();
  auto other = here;
  other.cpus.allowed = {0};
  CHECK_THROWS_WITH(check_same_machine("f", other, here),
                    "--topology f: has CPUs 0, and muster may use 0-1; ranks start on this machine "
                    "only: leave it out, or add --dry-run");
  other = here;
  other.nvidia.usable.emplace_back();
  CHECK_THROWS(check_same_machine("f", other, here));
  other = here;
  other.layout->cores.emplace_back();
  CHECK_THROWS(check_same_machine("f", other, here));
  other = here;
  other.cpus.quota = 1.5;
  CHECK_THROWS(check_same_machine("f", other, here));
}
