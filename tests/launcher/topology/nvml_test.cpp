#include "topology/nvml.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cerrno>
#include <sys/wait.h>

using muster::launcher::ask_nvml;

TEST_CASE("NVML's child answers or is told to be missing, and is gone afterwards") {
  const auto answer = ask_nvml();
  CHECK((answer.fault.empty() || answer.devices.empty()));
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("Without time there is no answer") {
  const auto answer = ask_nvml(std::chrono::milliseconds(0));
  CHECK(answer.devices.empty());
  CHECK(answer.fault == "NVML gave no answer in time");
}
