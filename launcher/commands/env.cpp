#include <muster/error.hpp>

#include "commands/commands.hpp"
#include "commands/sources.hpp"
#include "devices/choose_devices.hpp"
#include "planning/placement.hpp"
#include "report/machine_text.hpp"
#include "screen/screen.hpp"
#include "text.hpp"
#include "topology/hwloc_layout.hpp"
#include "topology/machine.hpp"
#include "topology/recording.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
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
  launch.ranks = choose_ranks(settings, devices).ranks;
  const auto placement = place_ranks(settings, topology, devices, launch.ranks);
  launch.devices = static_cast<int>(devices.devices.size());
  launch.threads =
      settings.threads.value.value_or(threads_of(topology.cpus, placement, launch.ranks));
  if (!placement.ranks.empty()) {
    launch.bound = settings.bind == "core" ? "cores of its own" : "a NUMA node";
  }
  launch.why = devices.why_cpu;
  return launch;
}

/// The machine of --topology, else this one.
Machine machine_of(const CommandLine& line, const Environment& environment, NvmlUse nvml) {
  if (const auto file = line.value("--topology")) return read_recording(*file);
  return discover_machine(Sysroot(), environment, nvml);
}

void record(const std::string& path, const Machine& machine) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const auto xml = machine.topology.layout->source.starts_with("hwloc") ? hwloc_xml() : "";
  file << recording_of(machine, xml);
  file.close();
  if (!file) {
    throw ConfigError("--record " + path + ": cannot be written: " + std::strerror(errno));
  }
  print_out(
      "Recorded. To plan for this machine, here or elsewhere:\n"
      "  muster launch --topology " +
      shell_quoted(path) + " --dry-run -- PROGRAM\n");
}

}  // namespace

int env(const CommandLine& line, const Environment& environment) {
  if (line.has("--record") && line.has("--topology")) {
    throw ConfigError("--record writes this machine; --topology shows another: give one of them");
  }
  MachineReport report;
  report.libtorch = libtorch_version;
  std::optional<Resolution> resolution;
  auto nvml = NvmlUse::never;
  try {
    resolution = resolve(sources_of(line, environment));
    for (const auto& note : resolution->notes()) complain(note, environment);
    nvml = nvml_use(resolution->settings().launch, environment);
  } catch (const ConfigError& error) {
    report.launch.fault = error.what();
  }
  report.machine = machine_of(line, environment, nvml);
  if (const auto path = line.value("--record")) {
    record(*path, report.machine);
    return 0;
  }
  try {
    if (resolution) report.launch = forecast(*resolution, environment, report.machine.topology);
  } catch (const ConfigError& error) {
    report.launch.fault = error.what();
  }
  print_out(line.has("--json") ? machine_json(report)
                               : machine_text(report, Screen::of(STDOUT_FILENO, environment)));
  return 0;
}

}  // namespace muster::launcher
