#include "topology/nvml.hpp"

#include <catch2/catch_test_macros.hpp>
#include <support/paths.hpp>

#include <cerrno>
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>

namespace muster::launcher {
namespace {

/// Loaded once by its path, the library is then found by its name.
void load_fake() {
  const auto path = std::string(test::bin_dir) + "/../tests/lib/libnvidia-ml.so.1";
  REQUIRE(::dlopen(path.c_str(), RTLD_NOW) != nullptr);
}

NvmlAnswer ask(const char* mode, std::chrono::milliseconds patience) {
  load_fake();
  ::setenv("FAKE_NVML", mode, 1);
  auto answer = ask_nvml(patience);
  ::unsetenv("FAKE_NVML");
  return answer;
}

constexpr std::chrono::seconds long_enough{40};

}  // namespace

TEST_CASE("NVML tells the devices in PCI order, each with its instances") {
  const auto answer = ask("", long_enough);
  CHECK(answer.fault.empty());
  REQUIRE(answer.devices.size() == 4);
  CHECK(answer.devices[0].uuid == "GPU-1");
  CHECK(answer.devices[0].parent.empty());
  CHECK(answer.devices[0].pci == "00000000:01:00.0");
  CHECK(answer.devices[0].model == "NVIDIA H200");
  CHECK(answer.devices[1].uuid == "MIG-11");
  CHECK(answer.devices[1].parent == "GPU-1");
  CHECK(answer.devices[2].uuid == "MIG-13");
  CHECK(answer.devices[2].model == "NVIDIA H200 MIG 3g.71gb");
  CHECK(answer.devices[3].uuid == "GPU-2");
}

TEST_CASE("A field that NVML leaves empty does not shift the others") {
  const auto answer = ask("nameless", long_enough);
  REQUIRE(answer.devices.size() == 4);
  CHECK(answer.devices[3].uuid.empty());
  CHECK(answer.devices[3].pci == "00000000:02:00.0");
  CHECK(answer.devices[3].model == "NVIDIA H200");
}

TEST_CASE("NVML that does not start says why") {
  const auto answer = ask("broken", long_enough);
  CHECK(answer.devices.empty());
  CHECK(answer.fault == "NVML does not start (error 9)");
}

TEST_CASE("NVML that never answers is given up, and its process is gone") {
  const auto answer = ask("slow", std::chrono::milliseconds(50));
  CHECK(answer.devices.empty());
  CHECK(answer.fault == "NVML gave no answer in time");
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

}  // namespace muster::launcher
