#include "topology/nvidia.hpp"

#include "launcher/recorded_machine.hpp"

#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <unistd.h>

using muster::launcher::discover_nvidia;
using muster::launcher::nvidia_without_driver;
using muster::launcher::NvmlAnswer;
using muster::launcher::NvmlUse;
using muster::launcher::with_instances;
using muster::test::RecordedMachine;

namespace {

auto devices_of(const RecordedMachine& machine) {
  return discover_nvidia(machine.root(), NvmlUse::for_instances);
}

}  // namespace

TEST_CASE("Eight devices are listed in PCI order, whatever their minor numbers") {
  const RecordedMachine machine;
  for (int at = 0; at < 8; ++at) {
    machine.gpu(7 - at, "0000:" + std::to_string(10 + at) + ":00.0",
                "GPU-" + std::to_string(at) + "000");
  }
  const auto found = devices_of(machine);
  REQUIRE(found.usable.size() == 8);
  CHECK(found.notes.empty());
  for (std::size_t at = 0; at < 8; ++at) {
    CHECK(found.usable[at].uuid == "GPU-" + std::to_string(at) + "000");
    CHECK(found.usable[at].minor == 7 - static_cast<int>(at));
    CHECK(found.usable[at].model == "H200");
  }
}

TEST_CASE("The NUMA node of a device, however its address is written") {
  const RecordedMachine machine;
  machine.gpu(0, "0000:1A:00.0", "GPU-a");
  machine.gpu(1, "00000000:2b:00.0", "GPU-b");
  machine.gpu(2, "0000:3c:00.0", "GPU-c");
  machine.file("/sys/bus/pci/devices/0000:1a:00.0/numa_node", "1\n");
  machine.file("/sys/bus/pci/devices/0000:2b:00.0/numa_node", "0\n");
  machine.file("/sys/bus/pci/devices/0000:3c:00.0/numa_node", "-1\n");
  const auto found = discover_nvidia(machine.root(), NvmlUse::never);
  REQUIRE(found.usable.size() == 3);
  for (const auto& device : found.usable) {
    CHECK(device.node == (device.uuid == "GPU-a" ? 1 : device.uuid == "GPU-b" ? 0 : -1));
  }
}

TEST_CASE("A device without a device file, or that we may not open, is told and not used") {
  const RecordedMachine machine;
  machine.gpu(0, "0000:01:00.0", "GPU-a");
  machine.gpu(1, "0000:02:00.0", "GPU-b");
  const auto root = machine.root();
  SECTION("hidden") {
    std::filesystem::remove(root.locate("/dev/nvidia1"));
    const auto found = devices_of(machine);
    REQUIRE(found.usable.size() == 1);
    CHECK(found.usable[0].uuid == "GPU-a");
    REQUIRE(found.notes.size() == 1);
    CHECK(found.notes[0] ==
          "H200 at 0000:02:00.0: there is no /dev/nvidia1 (hidden from this container?)");
  }
  SECTION("no permission") {
    using std::filesystem::perms;
    std::filesystem::permissions(root.locate("/"), perms::all);
    std::filesystem::permissions(root.locate("/dev/nvidia0"), perms::none);
    std::filesystem::permissions(root.locate("/dev/nvidia1"), perms::all);
    const bool is_root =
        ::geteuid() == 0;  // Root may open everything: be somebody else for a moment.
    if (is_root) REQUIRE(::setresuid(65534, 65534, 0) == 0);
    const auto found = devices_of(machine);
    if (is_root) REQUIRE(::setresuid(0, 0, 0) == 0);
    REQUIRE(found.notes.size() == 1);
    CHECK(found.notes[0] == "H200 at 0000:01:00.0: no permission to open /dev/nvidia0");
  }
}

TEST_CASE("A UUID that the driver has not read yet is empty") {
  const RecordedMachine machine;
  machine.gpu(0, "0000:01:00.0", "GPU-" + std::string(8, '?'));
  REQUIRE(devices_of(machine).usable.size() == 1);
  CHECK(devices_of(machine).usable[0].uuid.empty());
}

TEST_CASE("A divided device is marked: its instances are what programs use") {
  const RecordedMachine machine;
  machine.gpu(0, "0000:01:00.0", "GPU-a");
  machine.gpu(1, "0000:02:00.0", "GPU-b");
  machine.file("/proc/driver/nvidia/capabilities/gpu1/mig/gi7/ci0/access", "DeviceFileMinor: 66\n");
  machine.file("/proc/driver/nvidia/capabilities/gpu0/mig/README", "");
  const auto found = devices_of(machine);
  REQUIRE(found.usable.size() == 2);
  CHECK_FALSE(found.usable[0].divided);
  CHECK(found.usable[1].divided);
}

TEST_CASE("Instances take the place of their divided device") {
  const RecordedMachine machine;
  machine.gpu(0, "0000:01:00.0", "GPU-a");
  machine.gpu(1, "0000:02:00.0", "GPU-b");
  machine.file("/proc/driver/nvidia/capabilities/gpu0/mig/gi1/ci0/access", "");
  NvmlAnswer answer;
  SECTION("all that NVML names") {
    answer.devices = {{"GPU-a", "", "", "NVIDIA H200"},
                      {"MIG-1", "GPU-a", "", "NVIDIA H200 MIG 3g.71gb"},
                      {"MIG-2", "GPU-a", "", "NVIDIA H200 MIG 3g.71gb"},
                      {"GPU-b", "", "", "NVIDIA H200"}};
    const auto found = with_instances(devices_of(machine), answer);
    REQUIRE(found.usable.size() == 3);
    CHECK(found.usable[0].uuid == "MIG-1");
    CHECK(found.usable[0].model == "H200 MIG 3g.71gb");
    CHECK(found.usable[1].uuid == "MIG-2");
    CHECK(found.usable[2].uuid == "GPU-b");
    CHECK(found.notes.empty());
  }
  SECTION("none, and why") {
    answer.fault = "NVML gave no answer in time";
    const auto found = with_instances(devices_of(machine), answer);
    REQUIRE(found.usable.size() == 1);
    REQUIRE(found.notes.size() == 1);
    CHECK(
        found.notes[0] ==
        "H200 at 0000:01:00.0: divided (MIG), and its instances could not be listed: NVML gave no "
        "answer in time");
  }
}

TEST_CASE("Without the driver's folder the device files count") {
  const RecordedMachine machine;
  for (const auto* name : {"nvidia10", "nvidia2", "nvidiactl", "nvidia-uvm", "null"}) {
    machine.file(std::string("/dev/") + name, "");
  }
  const auto found = devices_of(machine);
  REQUIRE(found.usable.size() == 2);
  CHECK(found.usable[0].minor == 2);
  CHECK(found.usable[1].minor == 10);
}

TEST_CASE("The display of a board controller is no device; one without a driver is told") {
  const RecordedMachine machine;
  const auto pci = [&](const std::string& address, const char* vendor, const char* kind) {
    machine.file("/sys/bus/pci/devices/" + address + "/vendor", std::string(vendor) + "\n");
    machine.file("/sys/bus/pci/devices/" + address + "/class", std::string(kind) + "\n");
  };
  pci("0000:03:00.0", "0x1a03", "0x030000");  // ASPEED's VGA: a decoy.
  pci("0000:04:00.0", "0x10de", "0x030200");  // A 3D controller.
  pci("0000:04:00.1", "0x10de", "0x040300");  // Its sound.
  CHECK(devices_of(machine).usable.empty());
  const auto notes = nvidia_without_driver(machine.root());
  REQUIRE(notes.size() == 1);
  CHECK(notes[0] == "an NVIDIA device at 0000:04:00.0 has no driver loaded");
}

TEST_CASE("A machine without devices has none, and nothing to tell") {
  const RecordedMachine machine;
  CHECK(devices_of(machine).usable.empty());
  CHECK(devices_of(machine).notes.empty());
  CHECK(nvidia_without_driver(machine.root()).empty());
}
