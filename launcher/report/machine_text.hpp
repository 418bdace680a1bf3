#pragma once

#include "screen/screen.hpp"
#include "topology/machine.hpp"

#include <string>

namespace muster::launcher {

/// What a launch without flags would do on a machine.
struct LaunchForecast {
  int ranks = 1;
  int devices = 0;  ///< 0: on the CPU.
  int threads = 1;
  std::string bound;  ///< What each rank is bound to: "a NUMA node"; empty: nothing.
  std::string why;    ///< Why it is the CPU, where that is worth telling.
  std::string fault;  ///< What is wrong with settings files or variables; then the rest is unknown.
};

struct MachineReport {
  std::string libtorch;  ///< The version this build was made for; empty for a launcher alone.
  Machine machine;
  LaunchForecast launch;
};

/// The text of `muster env`, wrapped to the screen's width.
std::string machine_text(const MachineReport& report, const Screen& screen);

/// The same as JSON; sizes in bytes.
std::string machine_json(const MachineReport& report);

}  // namespace muster::launcher
