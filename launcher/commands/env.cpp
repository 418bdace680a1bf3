#include <muster/error.hpp>

#include "commands/commands.hpp"
#include "commands/sources.hpp"
#include "devices/choose_devices.hpp"
#include "report/machine_text.hpp"
#include "screen/screen.hpp"
#include "topology/machine.hpp"

#include <sys/utsname.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

#ifdef MUSTER_LIBTORCH_VERSION
constexpr const char* libtorch_version = MUSTER_LIBTORCH_VERSION;
#else
constexpr const char* libtorch_version = "";
#endif

/// What `muster launch` without a flag would do here; a fault in files or variables is its answer
/// too.
LaunchForecast forecast(const Resolution& resolution, const Environment& environment,
                        const Topology& topology) {
  LaunchForecast launch;
  const auto& settings = resolution.settings().launch;
  const auto devices =
      choose_devices(settings, environment, topology.nvidia, SettingNames(resolution));
  const auto count = choose_ranks(settings, devices);
  launch.ranks = count.ranks;
  launch.devices = static_cast<int>(devices.devices.size());
  launch.threads = settings.threads.value.value_or(topology.cpus.threads_for(count.ranks));
  launch.why = devices.why_cpu;
  return launch;
}

}  // namespace

int env(const CommandLine& line, const Environment& environment) {
  MachineReport report;
  report.libtorch = libtorch_version;
  utsname names{};
  if (::uname(&names) == 0) report.architecture = names.machine;
  try {
    const auto resolution = resolve(sources_of(line, environment));
    for (const auto& note : resolution.notes()) complain(note, environment);
    report.machine = discover_machine(Sysroot(), environment,
                                      nvml_use(resolution.settings().launch, environment));
    report.launch = forecast(resolution, environment, report.machine.topology);
  } catch (const ConfigError& error) {
    if (report.machine.kernel.empty()) {
      report.machine = discover_machine(Sysroot(), environment, NvmlUse::never);
    }
    report.launch.fault = error.what();
  }
  print_out(line.has("--json") ? machine_json(report)
                               : machine_text(report, Screen::of(STDOUT_FILENO, environment)));
  return 0;
}

}  // namespace muster::launcher
