#include "devices/choose_devices.hpp"

#include <muster/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

namespace muster::launcher {

using Catch::Matchers::Message;
using muster::ConfigError;
using muster::Environment;
using muster::LaunchSettings;

namespace {

NvidiaDevices devices(int count) {
  NvidiaDevices found;
  for (int at = 0; at < count; ++at) {
    const auto digit = std::to_string(at);
    found.usable.push_back({"GPU-" + digit + "aaa", "0000:0" + digit + ":00.0", "H200", at, false});
  }
  return found;
}

LaunchSettings with(std::vector<std::string> names) {
  LaunchSettings settings;
  settings.devices = std::move(names);
  return settings;
}

std::string names(const DeviceChoice& choice) {
  std::string text;
  for (const auto& device : choice.devices) text += device.name + " ";
  return text;
}

}  // namespace

TEST_CASE("auto takes every usable device, and the CPU where there is none") {
  CHECK(names(choose_devices({}, {}, devices(2))) == "GPU-0aaa GPU-1aaa ");
  CHECK(choose_devices({}, {}, devices(0)).devices.empty());
}

TEST_CASE("auto obeys the user's CUDA_VISIBLE_DEVICES") {
  CHECK(names(choose_devices({}, {{"CUDA_VISIBLE_DEVICES", "5,3"}}, devices(8))) == "5 3 ");
  const auto none = choose_devices({}, {{"CUDA_VISIBLE_DEVICES", ""}}, devices(8));
  CHECK(none.devices.empty());
  CHECK(none.why_cpu == "CUDA_VISIBLE_DEVICES hides every device");
  // Left over from a profile, on a host without devices.
  CHECK(choose_devices({}, {{"CUDA_VISIBLE_DEVICES", "0"}}, devices(0)).devices.empty());
}

TEST_CASE("auto tells why devices that are there were not used") {
  NvidiaDevices found;
  found.notes = {"H200 at 0000:01:00.0: no permission to open /dev/nvidia0"};
  const auto choice = choose_devices({}, {}, found);
  CHECK(choose_ranks({}, choice).why ==
        "1 rank on the CPU (-n starts more): H200 at 0000:01:00.0: no permission to open "
        "/dev/nvidia0");
}

TEST_CASE("cpu hides what is there") {
  CHECK(choose_devices(with({"cpu"}), {}, devices(2)).hide);
  CHECK_FALSE(choose_devices(with({"cpu"}), {}, devices(0)).hide);
}

TEST_CASE("An index counts within CUDA_VISIBLE_DEVICES, else in PCI order") {
  CHECK(names(choose_devices(with({"0", "2"}), {{"CUDA_VISIBLE_DEVICES", "5,3,7"}}, devices(8))) ==
        "5 7 ");
  CHECK(names(choose_devices(with({"2", "0"}), {}, devices(3))) == "GPU-2aaa GPU-0aaa ");
}

TEST_CASE("A UUID may be shortened, on either side") {
  CHECK(names(choose_devices(with({"GPU-1"}), {}, devices(3))) == "GPU-1aaa ");
  CHECK(names(choose_devices(with({"GPU-1aaa"}), {{"CUDA_VISIBLE_DEVICES", "GPU-1,GPU-2"}},
                             devices(3))) == "GPU-1 ");
}

TEST_CASE("What is not there is refused before anything starts") {
  const auto refuses = [](const std::vector<std::string>& list, const Environment& environment,
                          int count, const std::string& message) {
    CAPTURE(list, count);
    CHECK_THROWS_MATCHES(choose_devices(with(list), environment, devices(count)), ConfigError,
                         Message(message));
  };
  refuses({"cuda"}, {}, 0,
          "--devices cuda: this host has no NVIDIA device that can be used; --devices cpu runs "
          "without");
  refuses({"cuda"}, {{"CUDA_VISIBLE_DEVICES", ""}}, 2,
          "--devices cuda: CUDA_VISIBLE_DEVICES hides every device; --devices cpu runs without");
  refuses(
      {"0"}, {}, 0,
      "--devices 0: this host has no NVIDIA device that can be used; --devices cpu runs without");
  refuses({"0", "4"}, {}, 2,
          "--devices: no device '4'; this host has 2 (GPU-0aaa,GPU-1aaa), 0 to 1 or by UUID");
  refuses({"2"}, {{"CUDA_VISIBLE_DEVICES", "5,3"}}, 8,
          "--devices: no device '2'; CUDA_VISIBLE_DEVICES shows 2 (5,3), 0 to 1 or by UUID");
  refuses({"0", "0"}, {}, 2, "--devices: '0' is there twice");
  refuses({"GPU-"}, {}, 2, "--devices: 'GPU-' fits more than one device; write more of it");
}

TEST_CASE("Instances of a divided device pin each rank to its own") {
  const auto choice = choose_devices(with({"MIG-1", "MIG-2"}), {}, devices(1));
  CHECK(names(choice) == "MIG-1 MIG-2 ");
  CHECK(choice.pinned);
  CHECK(choose_devices({}, {{"CUDA_VISIBLE_DEVICES", "MIG-1,MIG-2"}}, devices(1)).pinned);
  CHECK_FALSE(choose_devices({}, {}, devices(2)).pinned);
}

TEST_CASE("A divided device is not offered itself") {
  auto found = devices(2);
  found.usable[0].divided = true;
  CHECK(names(choose_devices({}, {}, found)) == "GPU-1aaa ");
}

TEST_CASE("NVML is asked only for what nobody has named") {
  CHECK(nvml_use({}, {}) == NvmlUse::for_instances);
  CHECK(nvml_use(with({"cpu"}), {}) == NvmlUse::never);
  CHECK(nvml_use(with({"MIG-1"}), {}) == NvmlUse::for_devices);
  CHECK(nvml_use({}, {{"CUDA_VISIBLE_DEVICES", "0"}}) == NvmlUse::for_devices);
}

TEST_CASE("Ranks: as asked, one a device, or one on the CPU") {
  const auto two = choose_devices({}, {}, devices(2));
  LaunchSettings settings;
  SECTION("auto") {
    CHECK(choose_ranks(settings, two).ranks == 2);
    CHECK(choose_ranks(settings, two).why ==
          "2 ranks, one for each CUDA device (change: -n, --devices)");
    CHECK(choose_ranks(settings, {}).ranks == 1);
    CHECK(choose_ranks(settings, {}).why == "1 rank on the CPU (-n starts more)");
  }
  SECTION("a number says all") {
    settings.num_processes = 2;
    CHECK(choose_ranks(settings, two).ranks == 2);
    CHECK(choose_ranks(settings, two).why.empty());
    settings.num_processes = 64;
    CHECK(choose_ranks(settings, {}).ranks == 64);
  }
  SECTION("of this host") {
    settings.nproc_per_node = muster::AutoOr<int>(1);
    CHECK(choose_ranks(settings, two).ranks == 1);
    settings.nproc_per_node = muster::AutoOr<int>();
    CHECK(choose_ranks(settings, two).ranks == 2);
  }
  SECTION("more than devices") {
    settings.num_processes = 3;
    CHECK_THROWS_MATCHES(
        choose_ranks(settings, two), ConfigError,
        Message(
            "3 ranks were asked for, and there are 2 CUDA devices: use -n 2, or --oversubscribe "
            "to share devices, or --devices cpu"));
    settings.oversubscribe = true;
    CHECK(choose_ranks(settings, two).ranks == 3);
  }
}

}  // namespace muster::launcher
