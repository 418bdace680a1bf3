#include "topology/others.hpp"

#include "launcher/recorded_machine.hpp"

#include <catch2/catch_test_macros.hpp>

using muster::launcher::discover_others;
using muster::test::RecordedMachine;

namespace {

void add_amd(const RecordedMachine& machine, int node, int location, int minor) {
  const auto folder = "/sys/class/kfd/kfd/topology/nodes/" + std::to_string(node);
  machine.file(folder + "/properties", "cpu_cores_count 0\nsimd_count 1216\nlocation_id " +
                                           std::to_string(location) +
                                           "\ndomain 0\ndrm_render_minor " + std::to_string(minor) +
                                           "\ngfx_target_version 90402\n");
  machine.file(folder + "/mem_banks/0/properties", "heap_type 1\nsize_in_bytes 206141652992\n");
  machine.file("/dev/dri/renderD" + std::to_string(minor), "");
}

}  // namespace

TEST_CASE("AMD's devices by the kernel's list; its processors are none") {
  const RecordedMachine machine;
  machine.file("/sys/class/kfd/kfd/topology/nodes/0/properties",
               "cpu_cores_count 96\nsimd_count 0\n");
  add_amd(machine, 1, 0x2500, 129);
  add_amd(machine, 2, 0x0508, 128);
  machine.file("/dev/kfd", "");
  machine.file("/sys/bus/pci/devices/0000:05:01.0/numa_node", "1\n");
  const auto devices = discover_others(machine.root());
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].maker == "AMD");
  CHECK(devices[0].model == "gfx942");
  CHECK(devices[0].pci == "0000:05:01.0");
  CHECK(devices[0].node == 1);
  CHECK(devices[0].note.empty());
  CHECK(devices[1].pci == "0000:25:00.0");
  CHECK(devices[1].node == -1);
  CHECK(devices[1].memory_bytes == 206141652992ULL);
}

TEST_CASE("A device that is hidden from this container says so") {
  const RecordedMachine machine;
  add_amd(machine, 1, 0x0500, 128);
  CHECK(discover_others(machine.root()).front().note ==
        "there is no /dev/kfd (hidden from this container?)");
}

TEST_CASE("Intel's devices by their render files; a board's display has none") {
  const RecordedMachine machine;
  machine.file("/sys/class/drm/card0/device/vendor", "0x1a03\n");
  machine.file("/sys/class/drm/card1/device/vendor", "0x8086\n");
  machine.file("/sys/class/drm/renderD128/device/vendor", "0x8086\n");
  machine.file("/sys/class/drm/renderD128/device/device", "0x0bd5\n");
  machine.file("/sys/class/drm/renderD128/device/uevent",
               "DRIVER=xe\nPCI_SLOT_NAME=0000:29:00.0\n");
  machine.file("/dev/dri/renderD128", "");
  const auto devices = discover_others(machine.root());
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].maker == "Intel");
  CHECK(devices[0].pci == "0000:29:00.0");
  CHECK(devices[0].note.empty());
}

TEST_CASE("A machine without such devices has none") {
  CHECK(discover_others(RecordedMachine().root()).empty());
}
