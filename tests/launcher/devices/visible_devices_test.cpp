#include "devices/visible_devices.hpp"

#include <muster/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

namespace muster::launcher {

using Catch::Matchers::Message;
using muster::ConfigError;

namespace {

NvidiaDevices three() {
  NvidiaDevices found;
  found.usable = {{"GPU-8932f937-1111", "0000:01:00.0", "H200", 0, false},
                  {"GPU-8932aaaa-2222", "0000:02:00.0", "H200", 1, false},
                  {"GPU-0c5d2e11-3333", "0000:03:00.0", "A100", 2, false}};
  return found;
}

std::string names(const VisibleDevices& visible) {
  std::string text;
  for (const auto& device : visible.devices) text += device.name + " ";
  return text;
}

}  // namespace

TEST_CASE("Without the variable all devices are visible, by UUID in PCI order") {
  const auto visible = visible_devices(std::nullopt, three(), false);
  CHECK(names(visible) == "GPU-8932f937-1111 GPU-8932aaaa-2222 GPU-0c5d2e11-3333 ");
  CHECK_FALSE(visible.needs_pci_order);
  CHECK(visible.devices[2].model == "A100");
}

TEST_CASE("A device whose UUID is not known yet makes all of them indices in PCI order") {
  auto found = three();
  found.usable[1].uuid.clear();
  const auto visible = visible_devices(std::nullopt, found, false);
  CHECK(names(visible) == "0 1 2 ");
  CHECK(visible.needs_pci_order);
}

TEST_CASE("The user's words stay as they are, in their order") {
  CHECK(names(visible_devices("2,0", three(), false)) == "2 0 ");
  CHECK(names(visible_devices(" 1 , 2 ", three(), false)) == "1 2 ");
  CHECK(names(visible_devices("GPU-0c5d,GPU-8932f", three(), false)) == "GPU-0c5d GPU-8932f ");
  CHECK(names(visible_devices("MIG-377e0049-x,MIG-GPU-8932/1/0", three(), false)) ==
        "MIG-377e0049-x MIG-GPU-8932/1/0 ");
}

TEST_CASE("Empty and the customary words for it are no device") {
  for (const auto* none : {"", " ", "-1", "NoDevFiles"}) {
    CAPTURE(none);
    CHECK(visible_devices(none, three(), false).devices.empty());
  }
}

TEST_CASE("An index names a model only where CUDA's order is known") {
  CHECK(visible_devices("2", three(), false).devices[0].model.empty());
  CHECK(visible_devices("2", three(), true).devices[0].model == "A100");
  auto alike = three();
  alike.usable.pop_back();
  CHECK(visible_devices("1", alike, false).devices[0].model == "H200");
  CHECK(visible_devices("GPU-0c5d", three(), false).devices[0].model == "A100");
}

TEST_CASE("A bad entry is named") {
  const auto refuses = [](const char* value, const std::string& message) {
    CAPTURE(value);
    CHECK_THROWS_MATCHES(visible_devices(value, three(), false), ConfigError, Message(message));
  };
  refuses("0,3",
          "CUDA_VISIBLE_DEVICES=0,3: '3' does not exist: this host has 3 NVIDIA devices, 0 to 2");
  refuses("0,-1",
          "CUDA_VISIBLE_DEVICES=0,-1: '-1' does not exist: this host has 3 NVIDIA devices, 0 to 2");
  refuses(
      "cuda:0",
      "CUDA_VISIBLE_DEVICES=cuda:0: 'cuda:0' is no device: an index, GPU-<uuid> or MIG-<uuid> is");
  refuses("0,,1",
          "CUDA_VISIBLE_DEVICES=0,,1: '' is no device: an index, GPU-<uuid> or MIG-<uuid> is");
  refuses("0,", "CUDA_VISIBLE_DEVICES=0,: '' is no device: an index, GPU-<uuid> or MIG-<uuid> is");
  refuses("1,1", "CUDA_VISIBLE_DEVICES=1,1: '1' is there twice");
  refuses("GPU-ffff",
          "CUDA_VISIBLE_DEVICES=GPU-ffff: 'GPU-ffff' is none of this host's 3 NVIDIA devices");
  refuses("GPU-8932",
          "CUDA_VISIBLE_DEVICES=GPU-8932: 'GPU-8932' fits more than one device; write more of its "
          "UUID");
  CHECK_THROWS_MATCHES(
      visible_devices("0", NvidiaDevices{}, false), ConfigError,
      Message("CUDA_VISIBLE_DEVICES=0: '0' does not exist: this host has 0 NVIDIA devices"));
}

TEST_CASE("A UUID cannot be judged while the driver has not read them all") {
  auto found = three();
  found.usable[0].uuid.clear();
  CHECK(names(visible_devices("GPU-ffff", found, false)) == "GPU-ffff ");
}

}  // namespace muster::launcher
